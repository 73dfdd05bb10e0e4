// trace: against full matrices made of the attention probe's rows, multiplied layer by layer.
#include <cmath>

#include "model/probe/parts.h"
#include "tests/model/probe/probe_fixture.h"

namespace aft {
namespace {

ProbeRequest trace_of(const ModelConfig& model, int64_t position, const std::string& residual) {
    ProbeRequest request;
    request.probe = "trace";
    request.position = position;
    request.tokens = tiny_tokens(model);
    request.options["residual"] = residual;
    return request;
}

// [T, T], the gate-weighted mean of each target's channels.
at::Tensor attention_matrix(Bench& bench, int64_t layer, const std::string& part) {
    ProbeRequest request;
    request.probe = "attention";
    request.layer = layer;
    request.tokens = tiny_tokens(bench.model);
    request.options = {{"part", part}, {"reduce", "gate"}};
    std::vector<at::Tensor> rows;
    for (request.position = 0; request.position < bench.model.tokens(); ++request.position)
        rows.push_back(tensor_of(bench.run(request).fields.front())[0]);
    return at::stack(rows);
}

// Of every layer the share of the stream that was there before the mixer's branch, [T] each: the
// blocks run one by one.
std::vector<at::Tensor> measured_shares(const Bench& bench) {
    const at::NoGradGuard no_gradients;
    std::vector<at::Tensor> streams, out;
    const Tap tap = [&](const std::string& name, const at::Tensor& value) {
        if (name == "embedding" || name.ends_with(".out")) streams.push_back(value);
    };
    Pass pass;
    pass.tap = &tap;
    const at::Tensor input = probe::net_input(bench.model, tiny_tokens(bench.model));
    static_cast<void>(bench.net.forward(input, pass));
    for (int64_t layer = 0; layer < bench.model.layers; ++layer) {
        const at::Tensor x = streams.at(static_cast<size_t>(layer));
        const auto norm = [](const at::Tensor& of) {
            return of[0].to(at::kDouble).square().sum(1).sqrt();
        };
        const at::Tensor branch = norm(bench.net.forward_layer(layer, false, x));
        out.push_back(norm(x) / (norm(x) + branch));
    }
    return out;
}

// [layers, T]: row l = one-hot times M_(L-1) ... M_l.
at::Tensor dense_trace(Bench& bench, const ProbeRequest& request, const std::string& part) {
    const int64_t T = bench.model.tokens();
    const std::vector<at::Tensor> measured = measured_shares(bench);
    at::Tensor row = at::zeros({1, T}, at::kDouble);
    row[0][request.position] = 1;
    std::vector<at::Tensor> rows;
    for (int64_t layer = bench.model.layers - 1; layer >= 0; --layer) {
        const std::string& how = request.options.at("residual");
        const at::Tensor s = how == "measured"
                                 ? measured.at(static_cast<size_t>(layer))
                                 : at::full({T}, how == "half" ? 0.5 : 0.0, at::kDouble);
        const at::Tensor A = attention_matrix(bench, layer, part);
        row = at::matmul(row, at::diag(s) + at::matmul(at::diag(1 - s), A));
        rows.insert(rows.begin(), row[0]);
    }
    return at::stack(rows);
}

double apart(const at::Tensor& a, const at::Tensor& b) {
    return (a - b).abs().max().item<double>();
}

TEST(Trace, IsTheProductOfTheLayersMatrices) {
    for (ModelConfig model : tiny_models(true, true)) {
        model.layers = 3;
        if (!mixer_traits(model).has_attention) continue;
        Bench bench(model);
        for (const std::string residual : {"measured", "half", "none"}) {
            SCOPED_TRACE(model.mixer + " " + model.task + " " + residual);
            const ProbeRequest request = trace_of(model, model.tokens() - 3, residual);
            const FieldSet set = bench.run(request);
            const at::Tensor trace = tensor_of(set.fields.front());
            EXPECT_LT(apart(trace, dense_trace(bench, request, "both")), 1e-5);
            EXPECT_LT((trace.sum(1) - 1).abs().max().item<double>(), 1e-5);
            EXPECT_GE(trace.min().item<double>(), 0);
            EXPECT_EQ(set.find("prior") != nullptr, mixer_traits(model).has_prior());
            if (const Field* const prior = set.find("prior"); prior != nullptr) {
                EXPECT_LT(apart(tensor_of(*prior), dense_trace(bench, request, "prior")), 1e-5);
            }
        }
    }
}

// Options of the mixers that hide sources, share keys, lack gates or have a class token.
TEST(Trace, KnowsTheOptionsOfTheMixers) {
    for (const NetCase& c : small_cases()) {
        if (!mixer_traits(c.config).has_attention) continue;
        SCOPED_TRACE(c.label);
        Bench bench(c.config);
        const ProbeRequest request = trace_of(c.config, c.config.tokens() / 2, "measured");
        const at::Tensor trace = tensor_of(bench.run(request).fields.front());
        EXPECT_LT(apart(trace, dense_trace(bench, request, "both")), 1e-5);
    }
}

// Each layer's own row of the attention probe, whatever the residual connection carries.
TEST(Trace, AloneIsEachLayersOwnRow) {
    for (const char* mixer : {"aft-full", "aft-conv2d", "softmax"}) {
        SCOPED_TRACE(mixer);
        ModelConfig model = tiny_model(mixer, "image");
        model.layers = 3;
        Bench bench(model);
        const int64_t position = model.tokens() - 3;
        ProbeRequest request = trace_of(model, position, "measured");
        request.options["layers"] = "alone";
        const FieldSet set = bench.run(request);
        const at::Tensor rows = tensor_of(set.fields.front());
        for (int64_t layer = 0; layer < model.layers; ++layer)
            EXPECT_LT(apart(rows[layer], attention_matrix(bench, layer, "both")[position]), 1e-6);
        EXPECT_EQ(set.fields.front().notes.count("approximation"), 0u);
        EXPECT_GT(apart(rows[0], rows[1]), 1e-4);
    }
}

// w = -inf of some pairs in one layer: apart from what the causal order hides, and only where a
// layer stands alone.
TEST(Trace, AloneSaysWhichSourcesAreMasked) {
    for (const bool causal : {true, false}) {
        SCOPED_TRACE(causal);
        ModelConfig model = tiny_model("aft-full", causal ? "image" : "classify");
        model.own["factors"] = int64_t{0};
        model.layers = 2;
        Bench bench(model);
        const int64_t position = 5;
        ProbeRequest request = trace_of(model, position, "measured");
        request.options["layers"] = "alone";
        EXPECT_EQ(bench.run(request).find("masked"), nullptr) << "nothing is";
        const at::NoGradGuard no_gradients;
        for (Parameter& p : bench.net.parameters()) {
            if (p.name != "blocks.1.mixer.w") continue;
            for (const int64_t source : {1, 3, 7}) p.value[position][source].fill_(-kInfinity);
        }
        bench.kept = {};
        const FieldSet set = bench.run(request);
        const Field* const masked = set.find("masked");
        ASSERT_NE(masked, nullptr);
        at::Tensor wanted = at::zeros({model.layers, set.fields.front().shape.at(1)}, at::kDouble);
        for (const int64_t source : {1, 3, 7})
            if (!causal || source <= position) wanted[1][source] = 1;
        EXPECT_TRUE(at::equal(tensor_of(*masked), wanted)) << tensor_of(*masked);
        EXPECT_EQ((tensor_of(set.fields.front()) * wanted).sum().item<double>(), 0);
        request.options["layers"] = "chained";
        EXPECT_EQ(bench.run(request).find("masked"), nullptr) << "other layers lead to it";
    }
}

// Every probe that takes long looks at the token: asked to stop, it gives no answer.
TEST(Trace, ACancelledProbeEndsWithoutAnAnswer) {
    const ModelConfig model = tiny_model("aft-local", "image");  // it has a window
    Bench bench(model);
    for (const char* probe : {"trace", "reach", "window", "symmetry", "formation"}) {
        SCOPED_TRACE(probe);
        ProbeRequest request;
        request.probe = probe;
        request.tokens = tiny_tokens(model);
        std::stop_source stop;
        bench.control.stop = stop.get_token();
        EXPECT_FALSE(bench.run(request).fields.empty());
        stop.request_stop();
        EXPECT_THROW(static_cast<void>(bench.run(request)), Interrupted);
    }
}

TEST(Trace, NothingComesFromTheFuture) {
    for (const char* mixer : {"aft-full", "aft-conv2d", "softmax"}) {
        SCOPED_TRACE(mixer);
        const ModelConfig model = tiny_model(mixer, "image");
        Bench bench(model);
        ProbeRequest request = trace_of(model, 6, "measured");
        const at::Tensor trace = tensor_of(bench.run(request).fields.front());
        EXPECT_EQ(trace.slice(1, 7).abs().max().item<double>(), 0);
        EXPECT_GT(trace.slice(1, 0, 7).min().item<double>(), 0);
        // Position 6 is predicted from the start token and the tokens 0 to 5: others change
        // nothing.
        for (size_t i = 6; i < request.tokens.size(); ++i)
            request.tokens[i] = static_cast<uint8_t>((request.tokens[i] + 3) % 8);
        // A share is 1 at most, of sums of 16 sources in an order that may change: gamma_16 = 1e-6.
        EXPECT_LT(apart(trace, tensor_of(bench.run(request).fields.front())), 1e-6);
        request.tokens[5] = static_cast<uint8_t>((request.tokens[5] + 3) % 8);
        EXPECT_GT(apart(trace, tensor_of(bench.run(request).fields.front())), 1e-5);
        request.position = 0;
        const at::Tensor start = tensor_of(bench.run(request).fields.front());
        EXPECT_EQ(start.slice(1, 0, 1).min().item<double>(), 1) << "all of the start token";
    }
}

TEST(Trace, OfOneLayerWithoutResidualIsTheAttentionProbesRow) {
    for (const char* mixer : {"aft-full", "aft-local", "softmax", "linear"})
        for (const char* task : {"image", "text"}) {
            SCOPED_TRACE(std::string(mixer) + " " + task);
            ModelConfig model = tiny_model(mixer, task);
            model.layers = 1;
            Bench bench(model);
            ProbeRequest request = trace_of(model, 9, "none");
            const at::Tensor trace = tensor_of(bench.run(request).fields.front());
            EXPECT_EQ(trace.size(0), 1);
            request.probe = "attention";
            request.options = {{"reduce", "gate"}};
            EXPECT_LT(apart(trace, tensor_of(bench.run(request).fields.front())), 1e-7);
        }
}

// exp(K) of the visible sources underflows beside that of a later one, and w takes it back.
TEST(Trace, KeysAndBiasesOfManyNatsAreExact) {
    ModelConfig model = tiny_model("aft-full", "image");
    model.own["factors"] = 0;
    Bench bench(model);
    for (Parameter& parameter : bench.net.parameters()) {
        if (parameter.group == ParameterGroup::position_bias) parameter.value.mul_(800);
        if (parameter.name.ends_with("mixer.k.weight")) parameter.value.mul_(400);
    }
    for (const std::string residual : {"measured", "half"}) {
        const ProbeRequest request = trace_of(model, 15, residual);
        const at::Tensor trace = tensor_of(bench.run(request).fields.front());
        EXPECT_LT(apart(trace, dense_trace(bench, request, "both")), 1e-5);
        EXPECT_TRUE(trace.isfinite().all().item<bool>());
    }
}

TEST(Trace, NamesTheStrongestSourcesAndWhatTheResidualKept) {
    const ModelConfig model = tiny_model("aft-full", "image");
    Bench bench(model);
    ProbeRequest request = trace_of(model, 15, "half");
    const FieldSet set = bench.run(request);
    const at::Tensor trace = tensor_of(set.fields.front()), prior = tensor_of(*set.find("prior"));
    const at::Tensor strongest = tensor_of(*set.find("strongest"));
    ASSERT_EQ(strongest.sizes(), (std::vector<int64_t>{2, 12, 3}));
    for (int64_t layer = 0; layer < 2; ++layer)
        for (int64_t i = 0; i < 12; ++i) {
            const at::Tensor row = strongest[layer][i];
            const auto j = static_cast<int64_t>(row[0].item<double>());
            EXPECT_EQ(row[1].item<double>(), trace[layer][j].item<double>());
            EXPECT_EQ(row[2].item<double>(), prior[layer][j].item<double>());
            EXPECT_EQ((trace[layer] > trace[layer][j]).sum().item<int64_t>(), i) << "largest first";
        }
    const at::Tensor kept = tensor_of(*set.find("kept"));
    EXPECT_EQ(kept.min().item<double>(), 0.5);
    request.options["residual"] = "measured";
    const at::Tensor top = tensor_of(*bench.run(request).find("kept"))[1];
    EXPECT_NEAR(top.item<double>(), measured_shares(bench)[1][15].item<double>(), 1e-5);
}

TEST(Trace, SaysWhatItCannotDo) {
    Bench bench(tiny_model("aft-full", "image"));
    ProbeRequest request = trace_of(bench.model, 16, "half");
    EXPECT_NE(words([&] { (void)bench.run(request); }).find("0 to 15"), std::string::npos);
    request.position = 3;
    request.channel = 1;
    EXPECT_NE(words([&] { (void)bench.run(request); }).find("--channel"), std::string::npos);
    request.channel = -1;
    request.options["residual"] = "all";
    EXPECT_NE(words([&] { (void)bench.run(request); }).find("measured, half, none"),
              std::string::npos);
}

// A net whose q, k and v take more than is kept: another pass a group, the same answer.
TEST(Trace, LayersOfLargeNetsComeInGroups) {
    ModelConfig model = tiny_model("aft-simple", "text");
    model.own["length"] = 1024;
    model.dim = 1536;  // 18 MiB a layer: groups of 3
    model.layers = 4;
    Net net(model, 1);
    JobControl control;
    Activations kept;
    std::vector<uint8_t> tokens(1024, 1);
    const LayerTaps top = kept.of(net, tokens, 3);
    const at::Tensor last = kept.residual_share(net, tokens, 3).clone();
    const at::Tensor low = kept.of(net, tokens, 1).k;  // held: its place is given to nothing else
    const void* const place = low.const_data_ptr();
    (void)kept.of(net, tokens, 0);
    EXPECT_EQ(kept.of(net, tokens, 1).k.const_data_ptr(), place) << "of the same pass";
    EXPECT_TRUE(at::equal(kept.residual_share(net, tokens, 3), last));
    EXPECT_TRUE(at::equal(kept.of(net, tokens, 3).k, top.k));
}

}  // namespace
}  // namespace aft

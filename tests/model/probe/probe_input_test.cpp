// Probes of an input: attention, keys, predictions against their definitions.
#include <cmath>

#include "tests/model/probe/probe_fixture.h"

namespace aft {
namespace {

struct Taps {
    at::Tensor q, k, v;
};

Taps taps_of(Bench& bench, const std::vector<uint8_t>& tokens) {
    const LayerTaps& taps = bench.kept.of(bench.net, tokens, 1);
    return {taps.q.defined() ? taps.q.to(at::kDouble) : at::Tensor(), taps.k.to(at::kDouble),
            taps.v.to(at::kDouble)};
}

TEST(ProbesOfAnInput, AttentionIsTheDefinition) {
    for (const ModelConfig& model : tiny_models(true, true)) {
        SCOPED_TRACE(model.mixer + " " + model.task);
        Bench bench(model);
        if (!mixer_traits(model).has_key_maps || !is_aft_layer(bench.net, 1)) continue;
        const std::vector<uint8_t> tokens = tiny_tokens(model);
        const Taps taps = taps_of(bench, tokens);
        const int64_t T = taps.k.size(0), t = T - 3;
        for (const std::string part : {"both", "prior", "content"}) {
            ProbeRequest request;
            request.probe = "attention";
            request.layer = 1;
            request.position = t;
            request.tokens = tokens;
            request.options = {{"part", part}};
            const FieldSet set = bench.run(request);
            const at::Tensor got = tensor_of(set.fields.at(0));
            ASSERT_EQ(got.size(0), model.dim);
            EXPECT_TRUE(at::allclose(got.sum(1), at::ones({model.dim}, at::kDouble), 0, 1e-5));
            const at::Tensor w = dense(bench.net, 1).select(1, t);  // [1 or h, T]
            at::Tensor logits = part == "prior" ? at::zeros_like(taps.k).t() : taps.k.t();
            logits = logits + (part == "content" ? at::where(w > -kInfinity, 0.0, w) : w);
            const at::Tensor want =
                at::softmax(logits, 1).repeat_interleave(model.dim / logits.size(0), 0);
            EXPECT_TRUE(at::allclose(got, want, 1e-4, 1e-6)) << part;
            EXPECT_TRUE(
                at::allclose(tensor_of(*set.find("gate")), taps.q[t].sigmoid(), 1e-5, 1e-6));
        }
    }
}

// Gate times attention times values is the operator's output: the picture shows what is computed.
TEST(ProbesOfAnInput, AttentionGivesTheOutputOfTheOperator) {
    for (const ModelConfig& model : tiny_models(true, true)) {
        SCOPED_TRACE(model.mixer + " " + model.task);
        Bench bench(model);
        if (!mixer_traits(model).has_key_maps || !is_aft_layer(bench.net, 1)) continue;
        const std::vector<uint8_t> tokens = tiny_tokens(model);
        const Taps taps = taps_of(bench, tokens);
        const AftLayer& mixer = aft_layer(bench.net, 1);
        ops::Inputs in = mixer.bias_inputs(taps.k.size(0));
        in.q = taps.q.unsqueeze(0).to(at::kFloat);
        in.k = taps.k.unsqueeze(0).to(at::kFloat);
        in.v = taps.v.unsqueeze(0).to(at::kFloat);
        const at::Tensor y =
            ops::apply(mixer.kind(), in, mixer.options(context_of(model)))[0].to(at::kDouble);
        for (const int64_t t : {int64_t{0}, int64_t{5}, taps.k.size(0) - 1}) {
            ProbeRequest request;
            request.probe = "attention";
            request.layer = 1;
            request.position = t;
            request.tokens = tokens;
            const FieldSet set = bench.run(request);
            const at::Tensor mixed =
                (tensor_of(set.fields.at(0)) * taps.v.t()).sum(1) * tensor_of(*set.find("gate"));
            EXPECT_TRUE(at::allclose(mixed, y[t], 1e-4, 1e-5)) << "target " << t;
        }
    }
}

TEST(ProbesOfAnInput, AttentionReducesAndSelects) {
    Bench bench(tiny_model("aft-full", "image"));
    ProbeRequest request;
    request.probe = "attention";
    request.layer = 1;
    request.position = 10;
    request.tokens = tiny_tokens(bench.model);
    const FieldSet all = bench.run(request);
    const at::Tensor a = tensor_of(all.fields.at(0)), gate = tensor_of(*all.find("gate"));
    request.options = {{"reduce", "mean"}};
    EXPECT_TRUE(at::allclose(tensor_of(bench.run(request).fields.at(0))[0], a.mean(0), 1e-5, 1e-7));
    request.options = {{"reduce", "gate"}};
    EXPECT_TRUE(at::allclose(tensor_of(bench.run(request).fields.at(0))[0],
                             (a * gate.unsqueeze(1)).sum(0) / gate.sum(), 1e-5, 1e-7));
    request.options = {};
    request.channel = 3;
    EXPECT_TRUE(at::allclose(tensor_of(bench.run(request).fields.at(0))[0], a[3], 0, 1e-7));
    const at::Tensor entropy = -(a * a.clamp_min(1e-300).log()).sum(1) / std::log(2.0);
    EXPECT_TRUE(at::allclose(tensor_of(*all.find("entropy")), entropy, 1e-4, 1e-5));
}

// What the attention probe says of both rows, added up here: for every layer, channel reductions
// and a single channel.
TEST(ProbesOfAnInput, PriorShareIsTheOverlapOfPriorAndBoth) {
    for (const ModelConfig& model : tiny_models(true, true)) {
        SCOPED_TRACE(model.mixer + " " + model.task);
        Bench bench(model);
        if (!mixer_traits(model).has_key_maps || !is_aft_layer(bench.net, 1)) continue;
        ProbeRequest request;
        request.position = model.tokens() - 2;
        request.tokens = tiny_tokens(model);
        double least = 1;
        for (const std::string how : {"gate", "mean", "channel"}) {
            request.channel = how == "channel" ? 1 : -1;
            request.probe = "priors";
            request.options.clear();
            if (how != "channel") request.options = {{"reduce", how}};
            request.layer = 0;
            const FieldSet set = bench.run(request);
            const std::vector<float>& got = set.fields.at(0).values;
            ASSERT_EQ(int64_t(got.size()), model.layers);
            request.probe = "attention";
            for (request.layer = 0; request.layer < model.layers; ++request.layer) {
                const auto row = [&](const char* part) {
                    request.options = {{"part", part}, {"reduce", how == "channel" ? "none" : how}};
                    return tensor_of(bench.run(request).fields.at(0))[0];
                };
                const double want = at::minimum(row("prior"), row("both")).sum().item<double>();
                EXPECT_NEAR(got[size_t(request.layer)], want, 1e-5) << how;
                least = std::min(least, want);
            }
        }
        EXPECT_LT(least, 0.999);  // else the keys would play no part in this test
    }
}

TEST(ProbesOfAnInput, SoftmaxHasNoPriorShare) {
    Bench bench(tiny_model("softmax", "image"));
    ProbeRequest request;
    request.probe = "priors";
    request.position = 4;
    request.tokens = tiny_tokens(bench.model);
    EXPECT_NE(words([&] { static_cast<void>(bench.run(request)); }).find("no position bias"),
              std::string::npos);
}

TEST(ProbesOfAnInput, SoftmaxAttentionPerHead) {
    Bench bench(tiny_model("softmax", "image"));
    const std::vector<uint8_t> tokens = tiny_tokens(bench.model);
    const Taps taps = taps_of(bench, tokens);
    ProbeRequest request;
    request.probe = "attention";
    request.layer = 1;
    request.position = 9;
    request.tokens = tokens;
    const at::Tensor got = tensor_of(bench.run(request).fields.at(0));
    ASSERT_EQ(got.size(0), 2);
    for (int64_t h = 0; h < 2; ++h) {
        const at::Tensor k = taps.k.slice(1, 4 * h, 4 * h + 4).slice(0, 0, 10);
        const at::Tensor q = taps.q[9].slice(0, 4 * h, 4 * h + 4);
        const at::Tensor want = at::softmax(at::mv(k, q) / 2.0, 0);
        EXPECT_TRUE(at::allclose(got[h].slice(0, 0, 10), want, 1e-4, 1e-6));
        EXPECT_EQ(got[h].slice(0, 10).abs().max().item<double>(), 0);
    }
}

TEST(ProbesOfAnInput, KeysHaveMeanOneWhateverTheirConstant) {
    for (const std::string mixer : {"aft-simple", "aft-conv2d"}) {
        Bench bench(tiny_model(mixer, "image"));
        ProbeRequest request;
        request.probe = "keys";
        request.tokens = tiny_tokens(bench.model);
        const at::Tensor before = tensor_of(bench.run(request).fields.at(0));
        EXPECT_EQ(before.size(0), mixer == "aft-simple" ? 8 : 2);
        EXPECT_TRUE(at::allclose(before.mean(1), at::ones({before.size(0)}, at::kDouble), 0, 1e-5));
        for (Parameter& parameter : bench.net.parameters())
            if (parameter.name == "blocks.0.mixer.k.bias") parameter.value.add_(40.0);
        bench.kept.clear();
        const at::Tensor after = tensor_of(bench.run(request).fields.at(0));
        EXPECT_TRUE(at::allclose(before, after, 1e-3, 1e-4)) << mixer;
    }
}

TEST(ProbesOfAnInput, PredictionsAreDistributionsThatNeverSeeTheFuture) {
    for (const ModelConfig& model : tiny_models(true, false)) {
        SCOPED_TRACE(model.mixer + " " + model.task);
        Bench bench(model);
        ProbeRequest request;
        request.probe = "predictions";
        request.tokens = tiny_tokens(model);
        const at::Tensor all = tensor_of(bench.run(request).fields.at(0));
        EXPECT_TRUE(at::allclose(all.exp().sum(1), at::ones({all.size(0)}, at::kDouble), 0, 1e-5));
        request.options = {{"position", "7"}};
        request.tokens[7] = static_cast<uint8_t>((request.tokens[7] + 1) % 8);
        const at::Tensor row = tensor_of(bench.run(request).fields.at(0));
        ASSERT_EQ(row.size(0), 1);
        EXPECT_TRUE(at::allclose(row[0], all[7], 1e-4, 1e-5));
    }
}

}  // namespace
}  // namespace aft

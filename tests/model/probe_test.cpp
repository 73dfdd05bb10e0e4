// Probes: the list is walked on a tiny net of every mixer; values are compared with the definition
// written out densely.
#include "model/probe/probe.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <set>

#include "model/ops/aft.h"
#include "tests/model/tiny_nets.h"

namespace aft {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Bench {
    explicit Bench(const ModelConfig& config) : model(config), net(tiny_net(config)) {}
    FieldSet run(ProbeRequest request) { return run_probe({net, 7, control, kept}, request); }
    ModelConfig model;
    Net net;
    JobControl control;
    Activations kept;
};

at::Tensor tensor_of(const Field& field) {
    return at::tensor(field.values).view(field.shape).to(at::kDouble);
}

std::string words(const std::function<void()>& work) {
    try {
        work();
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

MixContext context_of(const ModelConfig& model) {
    MixContext context;
    context.grid_height = model.grid_height();
    context.grid_width = model.grid_width();
    context.class_token = model.class_token;
    return context;
}

// [1 or h, T, T], hidden sources at -inf.
at::Tensor dense(const Net& net, int64_t layer) {
    const Mixer& mixer = net.mixer(layer);
    const int64_t T = net.config().tokens();
    const at::Tensor w = ops::dense_bias(mixer.kind(), mixer.bias_inputs(T),
                                         mixer.options(context_of(net.config())), T)
                             .to(at::kDouble);
    return w.dim() == 2 ? w.unsqueeze(0) : w;
}

TEST(Probes, EveryRoomRunsOnEveryMixerOrSaysWhyNot) {
    for (const ModelConfig& model : tiny_models(true, true)) {
        Bench bench(model);
        for (const ProbeRoom& room : probes()) {
            SCOPED_TRACE(model.mixer + " " + model.task + " " + room.info.name);
            ProbeRequest request;
            request.probe = room.info.name;
            request.layer = 1;
            if (room.needs_tokens) request.tokens = tiny_tokens(model);
            try {
                const FieldSet set = bench.run(request);
                ASSERT_FALSE(set.fields.empty());
                for (const Field& field : set.fields) {
                    EXPECT_EQ(field.size(), static_cast<int64_t>(field.values.size()));
                    EXPECT_EQ(field.axes.size(), field.shape.size());
                    EXPECT_EQ(field.step, 7);
                    for (const float v : field.values) ASSERT_TRUE(std::isfinite(v)) << field.name;
                }
            } catch (const Error& error) {
                EXPECT_EQ(error.kind(), ErrorKind::usage);
                const std::string text = error.what();
                EXPECT_TRUE(text.find(model.mixer) != std::string::npos ||
                            text.find("softmax") != std::string::npos)
                    << text;
                EXPECT_TRUE(room.info.name == "kernel" || model.mixer == "softmax" ||
                            (room.info.name == "bias" && model.mixer == "aft-simple"))
                    << text;
            }
        }
    }
}

TEST(Probes, RangesAndOptionsAreNamed) {
    Bench bench(tiny_model("aft-conv2d", "image"));
    ProbeRequest request;
    request.probe = "bias";
    request.layer = 2;
    EXPECT_NE(words([&] { (void)bench.run(request); }).find("layer 2"), std::string::npos);
    EXPECT_NE(words([&] { (void)bench.run(request); }).find("0 to 1"), std::string::npos);
    request.layer = 0;
    request.head = 2;
    EXPECT_NE(words([&] { (void)bench.run(request); }).find("head 2"), std::string::npos);
    request.head = -1;
    request.options = {{"quantity", "log"}};
    EXPECT_NE(words([&] { (void)bench.run(request); }).find("w, exp, exp-1, row-share"),
              std::string::npos);
    request.options = {{"colour", "red"}};
    EXPECT_NE(words([&] { (void)bench.run(request); }).find("colour"), std::string::npos);
    request.options = {{"blocks", "0"}};
    EXPECT_NE(words([&] { (void)bench.run(request); }).find("1 to 16"), std::string::npos);
    request = {};
    request.probe = "attention";
    EXPECT_NE(words([&] { (void)bench.run(request); }).find("--image"), std::string::npos);
    request.tokens = tiny_tokens(bench.model);
    request.position = 16;
    EXPECT_NE(words([&] { (void)bench.run(request); }).find("0 to 15"), std::string::npos);
    request.probe = "atention";
    EXPECT_NE(words([&] { (void)bench.run(request); }).find("bias, kernel, attention"),
              std::string::npos);
}

TEST(Probes, BiasIsTheEffectiveBiasInEveryQuantity) {
    for (const ModelConfig& model : tiny_models(true, true)) {
        if (model.mixer == "aft-simple" || model.mixer == "softmax") continue;
        SCOPED_TRACE(model.mixer + " " + model.task);
        Bench bench(model);
        const at::Tensor w = dense(bench.net, 1);
        const at::Tensor visible = w[0] > -kInfinity;
        for (const std::string quantity : {"w", "exp", "exp-1", "row-share"}) {
            ProbeRequest request;
            request.probe = "bias";
            request.layer = 1;
            request.options = {{"quantity", quantity}, {"visible", "nan"}};
            const Field field = bench.run(request).fields.at(0);
            at::Tensor want = w;
            if (quantity == "exp") want = w.exp();
            if (quantity == "exp-1") want = w.expm1();
            if (quantity == "row-share") want = at::softmax(w, 2);
            const at::Tensor got = tensor_of(field).reshape(want.sizes());
            EXPECT_TRUE(at::equal(got[0].isnan(), ~visible));
            EXPECT_LT((got - want).masked_select(visible).abs().max().item<double>(), 1e-5);
            // One row is the same numbers.
            request.options["row"] = "9";
            const Field row = bench.run(request).fields.at(0);
            EXPECT_TRUE(at::allclose(tensor_of(row).reshape({-1, want.size(2)}), got.select(1, 9),
                                     1e-5, 1e-7, true));
        }
    }
}

TEST(Probes, BiasWithoutMarksIsTheMixersOwn) {
    for (const std::string mixer : {"aft-full", "aft-local"}) {
        Bench bench(tiny_model(mixer, "image"));
        ProbeRequest request;
        request.probe = "bias";
        const Field field = bench.run(request).fields.at(0);
        const at::Tensor want = bench.net.mixer(0).bias(16)->to(at::kDouble);
        EXPECT_TRUE(at::allclose(tensor_of(field), want, 1e-5, 1e-6)) << mixer;
    }
}

TEST(Probes, GaugeIsFixedWhereARowIsFree) {
    for (const std::string mixer : {"aft-full", "aft-local"}) {
        Bench bench(tiny_model(mixer, "image"));
        ProbeRequest request;
        request.probe = "bias";
        request.options = {{"visible", "nan"}};
        const at::Tensor raw = tensor_of(bench.run(request).fields.at(0));
        request.options["gauge"] = "fixed";
        const at::Tensor fixed = tensor_of(bench.run(request).fields.at(0));
        for (int64_t t = 0; t < 16; ++t) {
            const at::Tensor past = fixed[t].slice(0, 0, t + 1);
            const double mean = (past.exp().mean()).log().item<double>();
            const bool free = mixer == "aft-full" || t < 5;
            if (free) {
                EXPECT_NEAR(mean, 0, 1e-5) << mixer << " row " << t;
            }
            // Differences inside a row never change.
            const at::Tensor shift = (fixed[t] - raw[t]).slice(0, 0, t + 1);
            EXPECT_NEAR((shift.max() - shift.min()).item<double>(), 0, 1e-5);
            if (!free) {
                EXPECT_NEAR(shift.abs().max().item<double>(), 0, 1e-7);
            }
        }
        // The row share does not depend on the gauge.
        request.options["quantity"] = "row-share";
        const at::Tensor share = tensor_of(bench.run(request).fields.at(0));
        request.options["gauge"] = "raw";
        EXPECT_TRUE(at::allclose(share, tensor_of(bench.run(request).fields.at(0)), 1e-5, 1e-7,
                                 /*equal_nan=*/true));
    }
}

TEST(Probes, BlocksEqualBruteForce) {
    for (const std::string mixer : {"aft-full", "aft-local", "aft-conv2d"}) {
        for (const int64_t n : {1, 3, 4, 16}) {
            SCOPED_TRACE(mixer + " blocks of " + std::to_string(n));
            Bench bench(tiny_model(mixer, "image"));
            ProbeRequest request;
            request.probe = "bias";
            request.options = {{"visible", "nan"}, {"quantity", "exp-1"}};
            const at::Tensor whole =
                tensor_of(bench.run(request).fields.at(0)).reshape({-1, 16, 16});
            request.options["blocks"] = std::to_string(n);
            const FieldSet set = bench.run(request);
            const int64_t blocks = (16 + n - 1) / n;
            for (const char* name : {"mean", "min", "max"})
                ASSERT_NE(set.find(name), nullptr) << name;
            const auto at_block = [&](const char* name, int64_t h, int64_t i, int64_t j) {
                return tensor_of(*set.find(name))
                    .reshape({-1, blocks, blocks})[h][i][j]
                    .item<double>();
            };
            for (int64_t h = 0; h < whole.size(0); ++h)
                for (int64_t i = 0; i < blocks; ++i)
                    for (int64_t j = 0; j < blocks; ++j) {
                        const at::Tensor cells =
                            whole[h].slice(0, i * n, i * n + n).slice(1, j * n, j * n + n);
                        const at::Tensor seen = cells.masked_select(~cells.isnan());
                        if (seen.numel() == 0) {
                            EXPECT_TRUE(std::isnan(at_block("mean", h, i, j)));
                            continue;
                        }
                        EXPECT_NEAR(at_block("mean", h, i, j), seen.mean().item<double>(), 1e-5);
                        EXPECT_NEAR(at_block("min", h, i, j), seen.min().item<double>(), 1e-6);
                        EXPECT_NEAR(at_block("max", h, i, j), seen.max().item<double>(), 1e-6);
                    }
        }
    }
}

TEST(Probes, BandIsTheSameNumbersByOffset) {
    for (const std::string task : {"image", "classify"}) {
        Bench bench(tiny_model("aft-local", task));
        ProbeRequest request;
        request.probe = "bias";
        const at::Tensor whole = tensor_of(bench.run(request).fields.at(0));
        request.options = {{"view", "band"}};
        const Field band = bench.run(request).fields.at(0);
        const int64_t first = std::stoll(band.notes.at("first_offset"));
        ASSERT_EQ(band.shape, (std::vector<int64_t>{16, task == "image" ? 5 : 9}));
        EXPECT_EQ(first, task == "image" ? 0 : -4);
        for (int64_t t = 0; t < 16; ++t)
            for (int64_t o = 0; o < band.shape[1]; ++o) {
                const int64_t j = t - (o + first);
                const float got = band.values[static_cast<size_t>(t * band.shape[1] + o)];
                if (j < 0 || j >= 16) {
                    EXPECT_TRUE(std::isnan(got));
                } else {
                    EXPECT_NEAR(got, whole[t][j].item<double>(), 1e-6);
                }
            }
    }
    Bench full(tiny_model("aft-full", "image"));
    ProbeRequest request;
    request.probe = "bias";
    request.options = {{"view", "band"}};
    EXPECT_NE(words([&] { (void)full.run(request); }).find("aft-local"), std::string::npos);
}

struct Taps {
    at::Tensor q, k, v;
};

Taps taps_of(Bench& bench, const std::vector<uint8_t>& tokens) {
    const LayerTaps& taps = bench.kept.of(bench.net, tokens, 1);
    return {taps.q.defined() ? taps.q.to(at::kDouble) : at::Tensor(), taps.k.to(at::kDouble),
            taps.v.to(at::kDouble)};
}

TEST(Probes, AttentionIsTheDefinition) {
    for (const ModelConfig& model : tiny_models(true, true)) {
        if (model.mixer == "softmax") continue;
        SCOPED_TRACE(model.mixer + " " + model.task);
        Bench bench(model);
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
TEST(Probes, AttentionGivesTheOutputOfTheOperator) {
    for (const ModelConfig& model : tiny_models(true, true)) {
        if (model.mixer == "softmax") continue;
        SCOPED_TRACE(model.mixer + " " + model.task);
        Bench bench(model);
        const std::vector<uint8_t> tokens = tiny_tokens(model);
        const Taps taps = taps_of(bench, tokens);
        const Mixer& mixer = bench.net.mixer(1);
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

TEST(Probes, AttentionReducesAndSelects) {
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

TEST(Probes, SoftmaxAttentionPerHead) {
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

TEST(Probes, KeysHaveMeanOneWhateverTheirConstant) {
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

TEST(Probes, PredictionsAreDistributionsThatNeverSeeTheFuture) {
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

TEST(Probes, ExtremeBiasesStayFinite) {
    for (const std::string mixer : {"aft-full", "aft-local"}) {
        ModelConfig model = tiny_model(mixer, "image");
        model.factors = 0;
        Bench bench(model);
        for (Parameter& parameter : bench.net.parameters())
            if (parameter.group == Group::position_bias) parameter.value.mul_(800);
        for (const std::string probe : {"bias", "attention"}) {
            ProbeRequest request;
            request.probe = probe;
            request.position = 12;
            if (probe == "attention") request.tokens = tiny_tokens(model);
            if (probe == "bias") request.options = {{"quantity", "row-share"}, {"gauge", "fixed"}};
            const FieldSet set = bench.run(request);
            for (const Field& field : set.fields)
                for (const float v : field.values) ASSERT_TRUE(std::isfinite(v)) << field.name;
        }
    }
}

TEST(Probes, EveryRoomFileIsListed) {
    std::set<std::string> names;
    for (const ProbeRoom& room : probes()) {
        EXPECT_FALSE(room.info.sentence.empty());
        EXPECT_TRUE(names.insert(room.info.name).second);
        EXPECT_TRUE(std::filesystem::exists(std::string(AFT_SOURCE_DIR) + "/model/probe/" +
                                            room.info.name + ".cpp"));
    }
}

}  // namespace
}  // namespace aft

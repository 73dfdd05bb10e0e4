// Models whose w holds -inf: a source that is hidden from its target, in everything that reads w.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/caught.h"
#include "core/files.h"
#include "model/checkpoints/checkpoint.h"
#include "model/checkpoints/format.h"
#include "model/decode/decoder.h"
#include "model/interventions/intervention.h"
#include "model/jobs/export.h"
#include "model/jobs/import.h"
#include "model/jobs/inspect.h"
#include "model/jobs/run.h"
#include "model/jobs/train.h"
#include "model/probe/masks.h"
#include "model/probe/probe.h"
#include "model/train/bias_norm.h"
#include "model/train/trainer.h"
#include "tests/model/net/small_nets.h"
#include "tests/model/train/train_fixtures.h"

namespace aft {
namespace {

constexpr float kMaskedPair = -std::numeric_limits<float>::infinity();

class Masks : public ::testing::Test {
  protected:
    // A text model of one kind of bias, its w hidden in a third of all pairs; targets see
    // themselves.
    static Net masked_net(const std::string& mixer, int64_t window = 0) {
        Net net(config_of(mixer, window), 3);
        shake(net, 0.2, 5);
        const at::NoGradGuard no_gradients;
        for (Parameter& p : net.parameters())
            if (p.name.ends_with(".mixer.w")) {
                const at::Tensor hidden = at::rand(p.value.sizes()) < 0.33;
                hidden.fill_diagonal_(false);
                p.value.masked_fill_(hidden, kMaskedPair);
            }
        return net;
    }
    static ModelConfig config_of(const std::string& mixer, int64_t window) {
        ModelConfig config = small_config(mixer, "text");
        config.own["length"] = int64_t{70};  // more than two blocks of the decoder
        config.own["factors"] = int64_t{0};
        config.own["window"] = window;
        config.levels = 20;
        return config;
    }
    static at::Tensor w_of(const Net& net, int64_t layer) {
        for (const Parameter& p : net.parameters())
            if (p.name == fmt::format("blocks.{}.mixer.w", layer)) return p.value.detach();
        return {};
    }
    static Checkpoint checkpoint_of(const Net& net) {
        Checkpoint out;
        out.config.model = net.config();
        for (const Parameter& p : net.parameters())
            out.weights.emplace_back(p.name, p.value.detach().clone());
        return out;
    }
    [[nodiscard]] std::string path(const std::string& name) const {
        return (folder_ / name).string();
    }
    TemporaryFolder folder_;
};

// Row by row and token by token are the same, with all decoders.
TEST_F(Masks, DecodingIsTheForwardPass) {
    const at::NoGradGuard no_gradients;
    for (const auto& [mixer, window] :
         {std::pair{"aft-full", 0}, {"aft-local", 9}, {"aft-local", 40}}) {
        const Net net = masked_net(mixer, window);
        std::vector<int64_t> fed{-1};
        const at::Tensor targets = input_for(net.config(), 1, 7);
        for (int64_t t = 0; t + 1 < targets.size(1); ++t)
            fed.push_back(targets[0][t].item<int64_t>());
        const at::Tensor all = net.forward_fed(at::tensor(fed, at::kLong).unsqueeze(0),
                                               {.backend = ops::OperatorBackend::reference})[0];
        for (const bool is_eager : {false, true}) {
            SCOPED_TRACE(fmt::format("{} {} {}", mixer, window, is_eager));
            const auto decoder = decode::make_decoder(net, {.eager = is_eager});
            EXPECT_EQ(decoder->group() == 0, !is_eager) << decoder->name();
            const auto state = decoder->start(1);
            for (size_t t = 0; t < fed.size(); ++t) {
                const auto logits = decoder->step({&fed[t], 1}, *state);
                const at::Tensor found =
                    at::tensor(at::ArrayRef<float>(logits.data(), logits.size()));
                ASSERT_LT(difference(found, all[static_cast<int64_t>(t)]), 1e-4) << t;
            }
        }
    }
}

TEST_F(Masks, AreNoFaultAndCountInNoStatistic) {
    const Net net = masked_net("aft-full");
    write_checkpoint(path("m"), checkpoint_of(net));
    const InspectResult result = inspect_job(path("m"));
    EXPECT_TRUE(result.not_finite.empty());
    const at::Tensor past = w_of(net, 1).masked_select(at::ones({70, 70}, at::kBool).tril());
    const at::Tensor seen = past.masked_select(past.isfinite());
    ASSERT_EQ(result.bias.size(), 2u);
    const BiasSummary& row = result.bias[1];
    EXPECT_EQ(row.hidden, past.numel() - seen.numel());
    EXPECT_GT(row.hidden, 500);
    EXPECT_FLOAT_EQ(row.min, seen.min().item<float>());
    EXPECT_NEAR(row.mean, seen.mean().item<double>(), 1e-6);
    EXPECT_NEAR(row.norm, seen.norm().item<double>(), 1e-4);
    const std::vector<probe::LayerMasks> masks =
        probe::masks_of(net.config(), checkpoint_of(net).weights);
    ASSERT_EQ(masks.size(), 2u);
    EXPECT_EQ(masks[1].hidden, row.hidden);
    EXPECT_EQ(masks[1].pairs, 70 * 71 / 2);
    EXPECT_TRUE(masks[1].blind.empty());
    EXPECT_NEAR(*squared_bias(net.mixer(0), 70),
                w_of(net, 0).masked_fill(w_of(net, 0).isneginf(), 0).square().sum().item<double>(),
                1e-2);
}

TEST_F(Masks, AreHiddenCellsOfTheProbe) {
    const Net net = masked_net("aft-full");
    Activations activations;
    const JobControl control;
    const ProbeContext context{net, 0, control, activations};
    const auto ask = [&](const std::map<std::string, std::string>& options) {
        ProbeRequest request;
        request.probe = "bias";
        request.options = options;
        return run_probe(context, request);
    };
    const at::Tensor w = w_of(net, 0);
    const FieldSet whole = ask({{"quantity", "exp-1"}}), blocks = ask({{"blocks", "70"}});
    int64_t seen = 0;
    for (int64_t t = 0; t < 70; ++t)
        for (int64_t j = 0; j < 70; ++j) {
            const float value = whole.fields[0].values[static_cast<size_t>(t * 70 + j)];
            const bool is_seen = j <= t && w[t][j].isfinite().item<bool>();
            seen += is_seen ? 1 : 0;
            ASSERT_EQ(std::isnan(value), !is_seen) << t << " " << j;
        }
    EXPECT_FLOAT_EQ(blocks.find("count")->values[0], static_cast<float>(seen));
    EXPECT_TRUE(std::isfinite(blocks.find("min")->values[0]));
    // A share is of what is seen.
    const FieldSet row = ask({{"quantity", "row-share"}, {"row", "69"}});
    double sum = 0;
    for (const float share : row.fields[0].values) sum += std::isnan(share) ? 0 : share;
    EXPECT_NEAR(sum, 1, 1e-5);
}

TEST_F(Masks, StayInTraining) {
    Config config = tiny_config();
    config.model.mixer = "aft-full";
    config.model.own["factors"] = int64_t{0};
    config.train.bias_weight_decay = 0.1;
    Checkpoint start = checkpoint_of(Net(fit_to_data(config).config.model, 1));
    start.config = fit_to_data(config).config;
    at::Tensor before;
    for (auto& [name, value] : start.weights)
        if (name == "blocks.0.mixer.w") {
            const at::Tensor hidden = at::rand(value.sizes()) < 0.3;
            hidden.fill_diagonal_(false);
            value.masked_fill_(hidden, kMaskedPair);
            before = value.clone();
        }
    Trainer trainer(start, at::kCPU);
    for (int i = 0; i < 3; ++i) {
        const StepReport report = trainer.step();
        EXPECT_FALSE(report.failure.size() > 0) << report.failure;
        EXPECT_TRUE(std::isfinite(report.values.at("loss")));
    }
    const at::Tensor after = w_of(trainer.net(), 0);
    EXPECT_TRUE(at::equal(after.isneginf(), before.isneginf()));
    EXPECT_FALSE(at::equal(after.nan_to_num(), before.nan_to_num()));
    EXPECT_FALSE(after.isnan().any().item<bool>());
}

TEST_F(Masks, ATargetThatSeesNothingIsNamed) {
    Net net = masked_net("aft-full");
    const at::NoGradGuard no_gradients;
    w_of(net, 1)[4].narrow(0, 0, 5).fill_(kMaskedPair);  // later sources it does not see anyway
    w_of(net, 1)[9].fill_(kMaskedPair);
    write_checkpoint(path("m"), checkpoint_of(net));
    EXPECT_EQ(inspect_job(path("m")).not_finite,
              std::vector<std::string>{"blocks.1.mixer.w (targets 4, 9 see no source)"});
    w_of(net, 0)[3][2] = std::nanf("");
    write_checkpoint(path("m"), checkpoint_of(net));
    EXPECT_EQ(inspect_job(path("m")).not_finite.front(), "blocks.0.mixer.w");
}

// Recipes leave what is hidden as it is, and do not count it.
TEST_F(Masks, StayUnderInterventions) {
    for (const InterventionRoom& room : interventions()) {
        if (!room.edits_bias || room.info.name == "copy") continue;
        SCOPED_TRACE(room.info.name);
        Net net = masked_net("aft-full");
        const at::Tensor before = w_of(net, 0).clone();
        Intervention one;
        one.name = room.info.name;
        one.layer = 0;
        Recipe recipe;
        recipe.interventions.push_back(one);
        const std::string refusal = error_words([&] { apply_recipe(net, recipe); });
        if (!refusal.empty()) continue;
        const at::Tensor after = *net.mixer(0).bias(70);
        EXPECT_FALSE(after.isnan().any().item<bool>());
        EXPECT_TRUE(at::equal(after.isneginf(), before.isneginf()));
    }
}

// One mixer with a mask of its own, as somebody else's code has it:
//   w.masked_fill(mask == 0, -inf), y_t = sigmoid(q_t) sum_j exp(k_j + w_tj) v_j / sum_j ...
constexpr const char* kMaskMap = R"json({
  "sentence": "a mixer with a mask",
  "needs": ["att.bias"],
  "sizes": {"dim": "size(att.q, 0)", "T": "size(att.bias, 0)"},
  "settings": {"model.task": "layer", "model.mixer": "aft-full", "model.factors": 0,
               "model.dim": "=dim", "model.layers": 1, "model.height": 1, "model.width": "=T",
               "model.output_projection": false, "model.qkv_bias": false},
  "tensors": [
    {"from": "att.bias", "to": "blocks.0.mixer.w", "VISIBLE": "att.mask"},
    {"from": "att.mask", "drop": "the mask, which is in w"},
    {"from": "att.{p}", "to": "blocks.0.mixer.{p}.weight"}
  ]
})json";

// By loops, in double.
at::Tensor masked_answer(const at::Tensor& x, const at::Tensor& w, const at::Tensor& mask,
                         const std::vector<at::Tensor>& qkv) {
    std::vector<at::Tensor> of;
    for (const at::Tensor& one : qkv) of.push_back(at::matmul(x[0], one.t()).to(at::kDouble));
    const int64_t T = x.size(1), d = x.size(2);
    at::Tensor y = at::zeros({T, d}, at::kDouble);
    for (int64_t t = 0; t < T; ++t)
        for (int64_t c = 0; c < d; ++c) {
            double above = 0, below = 0;
            for (int64_t j = 0; j < T; ++j) {
                if (!mask[t][j].item<bool>()) continue;
                const double e = std::exp(of[1][j][c].item<double>() + w[t][j].item<double>());
                above += e * of[2][j][c].item<double>();
                below += e;
            }
            y[t][c] = above / below / (1 + std::exp(-of[0][t][c].item<double>()));
        }
    return y;
}

TEST_F(Masks, AreImportedByAMapping) {
    at::manual_seed(4);
    const at::Tensor w = at::randn({6, 6}), x = at::randn({1, 6, 4});
    const at::Tensor mask = (at::rand({6, 6}) < 0.5).fill_diagonal_(true);
    const std::vector<at::Tensor> qkv{at::randn({4, 4}), at::randn({4, 4}), at::randn({4, 4})};
    const at::Tensor expected = masked_answer(x, w, mask, qkv);
    for (const bool is_visible : {true, false}) {
        std::string map = kMaskMap;
        map.replace(map.find("VISIBLE"), 7, is_visible ? "visible" : "hidden");
        write_atomically(path("map.json"), map);
        const at::Tensor stored = is_visible ? mask : mask.logical_not();
        write_tensors(path("in"),
                      {.tensors = {{"att.bias", w},
                                   {"att.mask", stored.to(at::kFloat).view({1, 1, 6, 6})},
                                   {"att.q", qkv[0]},
                                   {"att.k", qkv[1]},
                                   {"att.v", qkv[2]}},
                       .metadata = {}});
        const ImportResult result =
            import_job({.file = path("in"), .out = path("m"), .map = path("map.json")});
        EXPECT_TRUE(result.not_finite.empty());
        const int64_t hidden = mask.logical_not().sum().item<int64_t>();
        ASSERT_EQ(result.notes.size(), 2u);
        EXPECT_NE(result.notes[0].find("cannot be exported back: the rule of 'att.bias' has"),
                  std::string::npos)
            << result.notes[0];
        EXPECT_EQ(result.notes[1], fmt::format("layer 0 hides {} of 36 pairs (w = -inf)", hidden));
        write_tensors(path("x"), {.tensors = {{"x", x}}, .metadata = {}});
        const RunResult run = run_job(
            {.model = path("m"), .in = path("x"), .out = path("y"), .part = "mixer", .layer = 0});
        EXPECT_LT(difference((*read_tensors(path("y")).find(run.tensor))[0], expected), 1e-5);
        // The mask is no tensor of its own here.
        EXPECT_THROW(static_cast<void>(export_mapped(path("m"), path("back"), path("map.json"))),
                     Error);
    }
    // A row of nothing but zeros.
    write_tensors(
        path("in"),
        {.tensors = {{"att.bias", w},
                     {"att.mask", at::eye(6).index_fill(0, at::tensor({2}, at::kLong), 0)},
                     {"att.q", qkv[0]},
                     {"att.k", qkv[1]},
                     {"att.v", qkv[2]}},
         .metadata = {}});
    std::string map = kMaskMap;
    map.replace(map.find("VISIBLE"), 7, "visible");
    write_atomically(path("map.json"), map);
    const ImportResult blind =
        import_job({.file = path("in"), .out = path("m"), .map = path("map.json")});
    EXPECT_EQ(blind.not_finite,
              std::vector<std::string>{"blocks.0.mixer.w (target 2 sees no source)"});
}

}  // namespace
}  // namespace aft

// Interventions: the list is walked on a tiny net of every mixer; what each room does is compared
// with its definition, written out cell by cell.
#include <algorithm>
#include <cmath>
#include <set>

#include "model/interventions/intervention.h"
#include "tests/model/net/double_net.h"
#include "tests/model/probe/probe_fixture.h"

namespace aft {
namespace {

Intervention done(const std::string& name, std::map<std::string, std::string> options = {}) {
    return {.name = name, .options = std::move(options)};
}

Recipe recipe_of(Intervention one) {
    return {.interventions = {std::move(one)}};
}

// w of a layer, [h, T, T] or kernels.
at::Tensor bias_of(const Net& net, int64_t layer) {
    return net.mixer(layer).bias(net.config().tokens())->to(at::kDouble);
}

at::Tensor changed_bias(const ModelConfig& model, const Intervention& one, int64_t layer = 0) {
    Net net = tiny_net(model);
    apply_recipe(net, recipe_of(one));
    return bias_of(net, layer);
}

double difference(const at::Tensor& a, const at::Tensor& b) {
    return (a - b).abs().max().item<double>();
}

at::Tensor logits_of(const Net& net) {
    const at::Tensor input =
        task_traits(net.config()).is_autoregressive
            ? at::tensor(tiny_tokens(net.config())).to(at::kLong).unsqueeze(0)
            : at::ones({1, net.config().channels, net.config().height, net.config().width});
    return net.forward(input, Pass{});
}

// Pairs that are visible and have a parameter.
std::vector<std::pair<int64_t, int64_t>> pairs_inside(const ModelConfig& model) {
    const int64_t T = model.tokens(), window = mixer_traits(model).window;
    std::vector<std::pair<int64_t, int64_t>> out;
    for (int64_t t = 0; t < T; ++t)
        for (int64_t j = 0; j < T; ++j)
            if ((!model.causal() || j <= t) && (window == 0 || std::abs(t - j) < window))
                out.emplace_back(t, j);
    return out;
}

TEST(Interventions, EveryRoomRunsOnEveryMixerOrSaysWhyNot) {
    std::set<std::string> ran;
    for (const ModelConfig& model : tiny_models(true, true)) {
        const at::NoGradGuard no_grad;
        const at::Tensor untouched = logits_of(tiny_net(model));
        for (const InterventionRoom& room : interventions()) {
            SCOPED_TRACE(model.mixer + " " + model.task + " " + room.info.name);
            EXPECT_EQ(room.edit_bias != nullptr, room.edits_bias);
            EXPECT_EQ(room.edit_weights != nullptr, !room.edits_bias);
            Net net = tiny_net(model);
            const std::string refusal =
                words([&] { apply_recipe(net, recipe_of(done(room.info.name))); });
            if (!refusal.empty()) {
                EXPECT_NE(refusal.find("intervention 1 (" + room.info.name + "): layer"),
                          std::string::npos)
                    << refusal;
                continue;
            }
            ran.insert(room.info.name);
            EXPECT_TRUE(at::isfinite(logits_of(net)).all().item<bool>());
            if (!room.has_strength) continue;
            Net still = tiny_net(model);
            Intervention none = done(room.info.name);
            none.strength = 0;
            apply_recipe(still, recipe_of(none));
            EXPECT_LT(difference(logits_of(still), untouched), kLogitError * largest(untouched))
                << "strength 0";
        }
    }
    EXPECT_EQ(ran.size(), interventions().size());
}

TEST(Interventions, WhatIsOffChangesNothing) {
    const ModelConfig model = tiny_model("aft-full", "image");
    Net net = tiny_net(model);
    Recipe recipe = recipe_of(done("zero"));
    recipe.interventions[0].on = false;
    EXPECT_TRUE(recipe.is_untouched());
    const at::Tensor before = bias_of(net, 0);
    apply_recipe(net, recipe);
    EXPECT_EQ(difference(bias_of(net, 0), before), 0);
}

TEST(Interventions, StrengthGoesFromUntouchedToChanged) {
    const ModelConfig model = tiny_model("aft-conv1d", "text");
    Intervention half = done("zero");
    half.strength = 0.25;
    half.layer = 1;
    half.head = 1;
    const at::Tensor before = bias_of(tiny_net(model), 1), after = changed_bias(model, half, 1);
    EXPECT_LT(difference(after[1], 0.75 * before[1]), 1e-6);
    EXPECT_EQ(difference(after[0], before[0]), 0) << "the other head";
    EXPECT_EQ(difference(changed_bias(model, half, 0), bias_of(tiny_net(model), 0)), 0);
}

TEST(Interventions, HiddenCellsStayAsTheyAre) {
    ModelConfig model = tiny_model("aft-full", "image");
    model.own["factors"] = 0;
    const at::Tensor before = bias_of(tiny_net(model), 0),
                     after = changed_bias(model, done("zero"));
    EXPECT_EQ(after.tril().abs().max().item<double>(), 0);
    EXPECT_EQ(difference(after.triu(1), before.triu(1)), 0);
}

TEST(Interventions, ZeroIsTheModelWithoutABias) {
    const at::NoGradGuard no_grad;
    Net net = tiny_net(tiny_model("aft-full", "image"));
    apply_recipe(net, recipe_of(done("zero")));
    ModelConfig simple = tiny_model("aft-simple", "image");
    Net other(simple, 1);
    for (Parameter& parameter : other.parameters())
        for (const Parameter& same : net.parameters())
            if (same.name == parameter.name) parameter.value.copy_(same.value);
    const at::Tensor expected = logits_of(other);
    EXPECT_LT(difference(logits_of(net), expected), kLogitError * largest(expected));
}

TEST(Interventions, CutLeavesWhatIsNear) {
    const ModelConfig model = tiny_model("aft-full", "text");
    const at::Tensor before = bias_of(tiny_net(model), 0);
    const at::Tensor after = changed_bias(model, done("cut", {{"distance", "3"}}));
    for (const auto& [t, j] : pairs_inside(model))
        EXPECT_EQ(after[t][j].item<double>(),
                  std::abs(t - j) < 3 ? before[t][j].item<double>() : 0);
    const ModelConfig picture = tiny_model("aft-full", "image");
    const at::Tensor whole = bias_of(tiny_net(picture), 0);
    const at::Tensor grid =
        changed_bias(picture, done("cut", {{"distance", "2"}, {"metric", "grid"}}));
    const int64_t W = picture.width;
    for (const auto& [t, j] : pairs_inside(picture)) {
        const int64_t far = std::max(std::abs(t / W - j / W), std::abs(t % W - j % W));
        EXPECT_EQ(grid[t][j].item<double>(), far < 2 ? whole[t][j].item<double>() : 0);
    }
}

TEST(Interventions, TranslationIsTheMeanOfEachOffset) {
    const ModelConfig model = tiny_model("aft-local", "image");
    const at::Tensor before = bias_of(tiny_net(model), 0);
    const at::Tensor after = changed_bias(model, done("translation"));
    const int64_t W = model.width;
    for (const auto& [t, j] : pairs_inside(model)) {
        double sum = 0;
        int count = 0;
        for (const auto& [a, b] : pairs_inside(model)) {
            if (a / W - b / W != t / W - j / W || a % W - b % W != t % W - j % W) continue;
            sum += before[a][b].item<double>();
            ++count;
        }
        EXPECT_NEAR(after[t][j].item<double>(), sum / count, 1e-5);
    }
}

TEST(Interventions, BlurIsAWeightedMeanOfVisibleSources) {
    const ModelConfig model = tiny_model("aft-full", "image");
    const at::Tensor before = bias_of(tiny_net(model), 0);
    const at::Tensor after = changed_bias(model, done("blur", {{"sigma", "0.8"}}));
    const int64_t W = model.width, T = model.tokens();
    for (int64_t t = 0; t < T; ++t)
        for (int64_t j = 0; j <= t; ++j) {
            double sum = 0, weights = 0;
            for (int64_t i = 0; i <= t; ++i) {
                const double dy = static_cast<double>(i / W - j / W);
                const double dx = static_cast<double>(i % W - j % W);
                const double g = std::exp(-(dy * dy + dx * dx) / (2 * 0.8 * 0.8));
                sum += g * before[t][i].item<double>();
                weights += g;
            }
            EXPECT_NEAR(after[t][j].item<double>(), sum / weights, 1e-5) << t << " " << j;
        }
}

TEST(Interventions, TopKKeepsTheLargest) {
    const ModelConfig model = tiny_model("aft-full", "text");
    const at::Tensor before = bias_of(tiny_net(model), 0);
    const at::Tensor after = changed_bias(model, done("top-k", {{"keep", "2"}}));
    for (int64_t t = 2; t < model.tokens(); ++t) {
        const at::Tensor row = before[t].narrow(0, 0, t + 1), kept = after[t].narrow(0, 0, t + 1);
        EXPECT_EQ(kept.ne(0).sum().item<int64_t>(), 2);
        const double least = std::get<0>(row.abs().topk(2)).min().item<double>();
        for (int64_t j = 0; j <= t; ++j)
            EXPECT_EQ(kept[j].item<double>(),
                      row[j].abs().item<double>() >= least ? row[j].item<double>() : 0);
    }
}

TEST(Interventions, LowRankIsTheNearestOfItsRank) {
    for (const int64_t factors : {4, 0}) {
        ModelConfig model = tiny_model("aft-full", "classify");
        model.own["factors"] = factors;
        const at::Tensor before = bias_of(tiny_net(model), 0);
        const at::Tensor after = changed_bias(model, done("low-rank", {{"rank", "2"}}));
        const auto [u, s, v] = at::linalg_svd(before);
        const at::Tensor nearest =
            at::matmul(u.narrow(1, 0, 2) * s.narrow(0, 0, 2), v.narrow(0, 0, 2));
        EXPECT_LT(difference(after, nearest), 1e-4) << factors;
        EXPECT_LT(at::linalg_svdvals(after)[2].item<double>(), 1e-4);
        const at::Tensor all = changed_bias(model, done("low-rank", {{"rank", "999"}}));
        EXPECT_LT(difference(all, before), 1e-4);
    }
}

TEST(Interventions, ShuffleKeepsTheValuesOfEachTarget) {
    const ModelConfig model = tiny_model("aft-local", "text");
    const at::Tensor before = bias_of(tiny_net(model), 0);
    const at::Tensor after = changed_bias(model, done("shuffle", {{"seed", "3"}}));
    EXPECT_GT(difference(after, before), 0.1);
    const int64_t window = mixer_traits(model).window;
    for (int64_t t = 0; t < model.tokens(); ++t) {
        const int64_t first = std::max<int64_t>(0, t - window + 1);
        const auto row = [&](const at::Tensor& w) {
            return std::get<0>(w[t].slice(0, first, t + 1).sort());
        };
        EXPECT_EQ(difference(row(after), row(before)), 0);
    }
    EXPECT_EQ(difference(after, changed_bias(model, done("shuffle", {{"seed", "3"}}))), 0);
}

TEST(Interventions, SymmetriseTakesTheMeanOfBothDirections) {
    const ModelConfig model = tiny_model("aft-full", "classify");
    const at::Tensor before = bias_of(tiny_net(model), 0);
    EXPECT_LT(difference(changed_bias(model, done("symmetrise")), (before + before.t()) / 2), 1e-6);
    const ModelConfig kernels = tiny_model("aft-conv2d", "classify");
    const at::Tensor k = bias_of(tiny_net(kernels), 0);
    EXPECT_LT(difference(changed_bias(kernels, done("symmetrise")), (k + k.flip({1, 2})) / 2),
              1e-6);
}

TEST(Interventions, PaintAndSetWriteTheirCellsAlone) {
    const ModelConfig model = tiny_model("aft-full", "text");
    const at::Tensor before = bias_of(tiny_net(model), 0);
    const at::Tensor painted = changed_bias(model, done("paint", {{"first_target", "5"},
                                                                  {"last_target", "6"},
                                                                  {"first_source", "1"},
                                                                  {"last_source", "3"},
                                                                  {"value", "-2.5"}}));
    const at::Tensor one =
        changed_bias(model, done("set", {{"target", "7"}, {"source", "2"}, {"value", "4"}}));
    for (const auto& [t, j] : pairs_inside(model)) {
        const bool is_painted = (t == 5 || t == 6) && j >= 1 && j <= 3;
        EXPECT_EQ(painted[t][j].item<double>(), is_painted ? -2.5 : before[t][j].item<double>());
        EXPECT_EQ(one[t][j].item<double>(), t == 7 && j == 2 ? 4 : before[t][j].item<double>());
    }
}

TEST(Interventions, CopyTakesAnotherLayerAsItStands) {
    const ModelConfig model = tiny_model("aft-conv1d", "text");
    Intervention copy = done("copy", {{"from_layer", "1"}, {"from_head", "0"}});
    copy.layer = 0;
    copy.head = 1;
    const at::Tensor after = changed_bias(model, copy), other = bias_of(tiny_net(model), 1);
    EXPECT_EQ(difference(after[1], other[0]), 0);
    Recipe two = recipe_of(done("zero"));
    two.interventions[0].layer = 1;
    two.interventions.push_back(copy);
    Net net = tiny_net(model);
    apply_recipe(net, two);
    EXPECT_EQ(bias_of(net, 0)[1].abs().max().item<double>(), 0) << "as it was left before";
}

TEST(Interventions, OffTakesAwayWhatAHeadAdds) {
    const at::NoGradGuard no_grad;
    const ModelConfig model = tiny_model("softmax", "image");
    Net net = tiny_net(model);
    apply_recipe(net, recipe_of(done("off")));
    const at::Tensor x = at::ones({1, model.tokens(), model.dim});
    EXPECT_EQ(net.forward_layer(0, false, x).abs().max().item<double>(), 0);
    Net one = tiny_net(model), both = tiny_net(model);
    Recipe heads;
    for (const int64_t head : {0, 1}) {
        Intervention off = done("off");
        off.head = head;
        heads.interventions.push_back(off);
    }
    apply_recipe(both, heads);
    at::Tensor bias;
    for (const Parameter& parameter : both.parameters())
        if (parameter.name == "blocks.0.mixer.o.bias") bias = parameter.value;
    EXPECT_LT(difference(both.forward_layer(0, false, x), bias.expand({1, model.tokens(), -1})),
              1e-6);
}

TEST(Interventions, GateAndKeysOff) {
    const at::NoGradGuard no_grad;
    const ModelConfig model = tiny_model("aft-full", "image");
    Bench bench(model);
    apply_recipe(bench.net,
                 {.interventions = {done("gate-off"), done("key-off", {{"channel", "2"}})}});
    const LayerTaps& taps = bench.kept.of(bench.net, tiny_tokens(model), 1);
    EXPECT_EQ(taps.q.sigmoid().min().item<double>(), 1);
    EXPECT_EQ(taps.k.select(1, 2).abs().max().item<double>(), 0);
    EXPECT_GT(taps.k.select(1, 1).abs().max().item<double>(), 0);
}

TEST(Interventions, RefusalsNameWhatWasFoundAndWhatIsAllowed) {
    const auto refusal = [](Intervention one) {
        Net net = tiny_net(tiny_model("aft-conv1d", "text"));
        return words([&] { apply_recipe(net, recipe_of(std::move(one))); });
    };
    EXPECT_NE(refusal(done("nothing")).find("unknown intervention 'nothing'; allowed: zero"),
              std::string::npos);
    Intervention one = done("zero");
    one.layer = 2;
    EXPECT_NE(refusal(one).find("layer 2 is not in this model: 0 to 1"), std::string::npos);
    one.layer = 0;
    one.head = 2;
    EXPECT_NE(refusal(one).find("head 2 is not in this model: 0 to 1"), std::string::npos);
    one.head = 0;
    one.strength = 1.5;
    EXPECT_NE(refusal(one).find("strength: found 1.5, allowed: 0 to 1"), std::string::npos);
    EXPECT_NE(refusal(done("zero", {{"x", "1"}})).find("unknown option 'x'; allowed: none"),
              std::string::npos);
    EXPECT_NE(refusal(done("blur", {{"sigma", "0"}})).find("sigma: found '0', allowed: 0.1 to"),
              std::string::npos);
    EXPECT_NE(refusal(done("cut", {{"distance", "1.5"}})).find("a whole number"),
              std::string::npos);
    EXPECT_NE(refusal(done("blur", {{"sigma", "nan"}})).find("sigma"), std::string::npos);
    EXPECT_NE(refusal(done("low-rank")).find("has no rank"), std::string::npos);
    EXPECT_NE(refusal(done("translation")).find("offset alone"), std::string::npos);
    EXPECT_NE(refusal(done("copy", {{"from_layer", "9"}})).find("from_layer: found 9"),
              std::string::npos);
    EXPECT_NE(refusal(done("copy", {{"from", "/nowhere"}})).find("/nowhere"), std::string::npos);
}

}  // namespace
}  // namespace aft

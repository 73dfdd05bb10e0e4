// What the mixers state of their costs is what they are: every room of the list, with every task
// that it serves, against the net that is built, and against sums by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "core/check.h"
#include "model/jobs/cost.h"
#include "model/mixers/find.h"
#include "tests/model/net/small_nets.h"

namespace aft {
namespace {

double parameters_named(const Net& net, const std::string& part) {
    int64_t count = 0;
    for (const Parameter& parameter : net.parameters())
        if (parameter.name.find(part) != std::string::npos) count += parameter.value.numel();
    return static_cast<double>(count);
}

TEST(Cost, StatedParametersAreThoseOfTheNet) {
    size_t seen = 0;
    for (const NetCase& one : small_cases()) {
        SCOPED_TRACE(one.label);
        const Net net(one.config, 1);
        const CostShape shape = shape_of(one.config);
        EXPECT_EQ(mixer_cost(one.config, shape).layer.parameters,
                  parameters_named(net, "blocks.0.mixer."));
        const NetCost whole = net_cost(one.config, shape);
        EXPECT_EQ(whole.all.parameters, static_cast<double>(parameter_count(net.parameters())));
        double sum = 0;
        for (const NetPart& part : whole.parts) sum += part.cost.parameters;
        EXPECT_EQ(sum, whole.all.parameters);
        ++seen;
    }
    EXPECT_GT(seen, mixers().size());
}

TEST(Cost, EveryMixerOfTheListStatesItsCost) {
    for (const NetCase& one : small_cases()) {
        SCOPED_TRACE(one.label);
        ASSERT_NE(find_mixer(one.config.mixer).cost, nullptr);
        const MixerCost cost = mixer_cost(one.config, shape_of(one.config));
        EXPECT_FALSE(cost.time.empty());
        EXPECT_FALSE(cost.space.empty());
        EXPECT_GT(cost.layer.forward_flops, 0);
        EXPECT_GT(cost.layer.backward_flops, cost.layer.forward_flops);
        EXPECT_GT(cost.layer.kept_bytes, 0);
        EXPECT_EQ(cost.layer.decode_flops > 0, one.config.causal());
        EXPECT_EQ(cost.layer.state_bytes > 0, one.config.causal());
    }
}

// Whether a published order grows with the pairs of tokens at a fixed setting: sqrt(T) is that of a
// stride which grows with T.
bool has_pairs(const std::string& order) {
    return order.find("T^2") != std::string::npos || order.find("sqrt(T)") != std::string::npos;
}

// At lengths where the projections no longer count: twice as long is twice the work, but for those
// that compare all pairs. What is kept is at most of the published order.
TEST(Cost, GrowsAsTheMixerDoes) {
    for (const NetCase& one : small_cases()) {
        if (one.label != one.config.mixer + " " + one.config.task) continue;  // the options
        SCOPED_TRACE(one.label);
        constexpr int64_t kSide = 512;
        const MixerCost cost = mixer_cost(
            one.config, {.tokens = kSide * kSide, .grid_height = kSide, .grid_width = kSide});
        const LayerCost& once = cost.layer;
        const LayerCost twice =
            mixer_cost(one.config,
                       {.tokens = 2 * kSide * kSide, .grid_height = 2 * kSide, .grid_width = kSide})
                .layer;
        const double flops = has_pairs(cost.time) ? 4 : 2;
        EXPECT_NEAR(twice.forward_flops / once.forward_flops, flops, 0.05) << "time: " << cost.time;
        EXPECT_NEAR(twice.backward_flops / once.backward_flops, flops, 0.05);
        const double bytes = twice.kept_bytes / once.kept_bytes;
        EXPECT_TRUE(std::abs(bytes - 2) < 0.05 ||
                    (has_pairs(cost.space) && std::abs(bytes - 4) < 0.05))
            << "activations grow by " << bytes << " with twice the tokens; space: " << cost.space;
    }
}

// T = 4, d = 8, no heads: three products of 4 x 8 x 8 before the operator and one after it.
TEST(Cost, IsWhatAPersonCounts) {
    ModelConfig model = small_config("aft-simple", "text");
    model.dim = 8;
    const CostShape shape{.tokens = 4, .grid_height = 1, .grid_width = 4};
    constexpr double kMaps = 4 * 2 * 4 * 8 * 8, kScan = 12 * 4 * 8, kScanBack = 30 * 4 * 8;
    LayerCost cost = mixer_cost(model, shape).layer;
    EXPECT_EQ(cost.parameters, 4 * (8 * 8 + 8));
    EXPECT_EQ(cost.forward_flops, kMaps + kScan);
    // q, k, v and the scan once more
    EXPECT_EQ(cost.backward_flops, 2 * kMaps + kScanBack + 0.75 * kMaps + kScan);
    // x and two statistics; one state of three rows
    EXPECT_EQ(cost.kept_bytes, 4 * (4 * (8 + 2) + 3 * 8));
    EXPECT_EQ(cost.decode_flops, kMaps / 4 + 12 * 8);
    EXPECT_EQ(cost.state_bytes, 4 * 3 * 8);
    model.mixer = "aft-full";  // 10 visible pairs, factors of 3
    cost = mixer_cost(model, shape).layer;
    EXPECT_EQ(cost.parameters, 4 * (8 * 8 + 8) + 2 * 4 * 3);
    EXPECT_EQ(cost.forward_flops, kMaps + 10 * (4 * 8 + 2 * 3));
    // few sources: the operator once more
    EXPECT_EQ(cost.backward_flops, 2.75 * kMaps + 10 * (8 * 8 + 6 * 3) + 10 * (4 * 8 + 2 * 3));
    EXPECT_EQ(cost.kept_bytes, 4 * 4 * (8 + 2));
    ModelConfig wide = model;
    wide.own["factors"] = 40;  // more work than the averages are worth: they are kept
    cost = mixer_cost(wide, shape).layer;
    EXPECT_EQ(cost.backward_flops, 2.75 * kMaps + 10 * (8 * 8 + 6 * 40));
    EXPECT_EQ(cost.kept_bytes, 4 * 4 * (8 + 2 + 2 * 8));
    model.mixer = "aft-local";  // a window of 3: 1 + 2 + 3 + 3 pairs
    cost = mixer_cost(model, shape).layer;
    EXPECT_EQ(cost.forward_flops, kMaps + kScan + 9 * (4 * 8 + 2 * 3));
    model.mixer = "softmax";
    model.own["heads"] = 2;
    cost = mixer_cost(model, shape).layer;
    EXPECT_EQ(cost.forward_flops, kMaps + 10 * 4 * 8);
    EXPECT_EQ(cost.backward_flops, 2 * kMaps + 10 * 10 * 8);
    EXPECT_EQ(cost.kept_bytes, 4 * 4 * (8 + 2 + 3 * 8 + 8 + 2));
    EXPECT_EQ(cost.state_bytes, 4 * 4 * 2 * 8);
}

// Taps that lie inside, target by target.
double taps_inside(const CostShape& shape, int64_t reach, bool causal) {
    double count = 0;
    for (int64_t t = 0; t < shape.tokens; ++t)
        for (int64_t j = 0; j < (causal ? t + 1 : shape.tokens); ++j) {
            const int64_t dy = t / shape.grid_width - j / shape.grid_width;
            const int64_t dx = t % shape.grid_width - j % shape.grid_width;
            count += std::abs(dy) <= reach && std::abs(dx) <= reach ? 1 : 0;
        }
    return count;
}

TEST(Cost, ConvolutionsCountTheTapsInside) {
    for (const char* task : {"image", "classify"})
        for (const int64_t taps : {1, 3, 5, 15}) {
            SCOPED_TRACE(fmt::format("{} {}", task, taps));
            ModelConfig model = small_config("aft-conv2d", task);
            model.own["window"] = taps;
            const CostShape shape{.tokens = 30, .grid_height = 5, .grid_width = 6};
            const LayerCost cost = mixer_cost(model, shape).layer;
            const double d = 8, h = 2, maps = 2 * 30 * (3 * d * d + d * h), scan = 12 * 30 * d;
            EXPECT_EQ(cost.forward_flops - maps - scan,
                      2 * (d + h) * taps_inside(shape, taps / 2, model.causal()));
        }
    ModelConfig model = small_config("aft-conv1d", "text");  // three taps, the last is the token
    const LayerCost cost =
        mixer_cost(model, {.tokens = 30, .grid_height = 1, .grid_width = 30}).layer;
    EXPECT_EQ(cost.forward_flops - 2 * 30 * (3 * 64 + 16) - 12 * 30 * 8, 2 * 10 * (30 + 29 + 28));
}

TEST(Cost, AGridIsLikeTheModels) {
    const ModelConfig model = small_config("local2d", "image");  // 4 x 8
    const auto grid = [&](int64_t tokens) {
        CostShape shape{.tokens = tokens};
        if (!has_grid_like(model, shape)) return std::pair<int64_t, int64_t>{0, 0};
        return std::pair{shape.grid_height, shape.grid_width};
    };
    EXPECT_EQ(grid(128), (std::pair<int64_t, int64_t>{8, 16}));
    EXPECT_EQ(grid(32), (std::pair<int64_t, int64_t>{4, 8}));
    EXPECT_EQ(grid(8), (std::pair<int64_t, int64_t>{2, 4}));
    EXPECT_EQ(grid(127), (std::pair<int64_t, int64_t>{0, 0}));
}

CostRequest request_for(const std::string& mixer, const std::string& task) {
    CostRequest request;
    request.config.model = small_config(mixer, task);
    return request;
}

template <class Is>
std::set<std::string> mixers_that(const Is& is) {
    std::set<std::string> names;
    for (const MixerRoom& room : mixers())
        if (is(room.traits({}))) names.insert(room.info.name);
    EXPECT_FALSE(names.empty());
    return names;
}

TEST(CostJob, HasARowForEveryMixerThatFits) {
    CostRequest request = request_for("aft-full", "text");
    request.lengths = {64, 16, 64};
    const CostResult result = cost_job(request);
    EXPECT_GT(result.rates.flops_per_second, 0);
    EXPECT_GT(result.rates.bytes_per_second, 0);
    std::set<std::string> with_rows, without;
    for (const CostRow& row : result.rows) {
        with_rows.insert(row.mixer);
        EXPECT_EQ(row.is_own, row.mixer == "aft-full");
        EXPECT_TRUE(row.shape.tokens == 16 || row.shape.tokens == 64);
        EXPECT_GE(row.seconds.train, row.seconds.forward);
        EXPECT_GT(row.seconds.forward, 0);
    }
    EXPECT_EQ(result.rows.size(), 2 * with_rows.size());
    for (const CostGap& gap : result.gaps) {
        EXPECT_FALSE(gap.reason.empty());
        without.insert(gap.mixer);
    }
    EXPECT_EQ(without, mixers_that([](const MixerTraits& traits) {
                  return !traits.causal || traits.on_grid;
              }));
    EXPECT_EQ(with_rows.size() + without.size(), mixers().size());
}

// Heads that AFT refuses become one; a window that the model has not is a usual one.
TEST(CostJob, SaysWhichSettingsOthersGet) {
    CostRequest request = request_for("softmax", "text");
    request.config.model.own["window"] = 0;
    request.lengths = {32};
    std::map<std::string, std::vector<std::string>> changed;
    for (const CostRow& row : cost_job(request).rows) changed[row.mixer] = row.changed;
    EXPECT_TRUE(changed.at("softmax").empty());
    EXPECT_TRUE(changed.at("linear").empty());
    EXPECT_EQ(changed.at("aft-full"), std::vector<std::string>{"model.heads=1"});
    EXPECT_EQ(changed.at("local-softmax"), std::vector<std::string>{"model.window=32"});
    EXPECT_EQ(changed.at("aft-local"),
              (std::vector<std::string>{"model.window=32", "model.heads=1"}));
    EXPECT_EQ(changed.at("aft-conv1d"), std::vector<std::string>{"model.window=11"});
}

TEST(CostJob, AMixerWithoutAGridOfThatLengthIsNamed) {
    CostRequest request = request_for("aft-simple", "image");
    request.lengths = {127, 128};
    const CostResult result = cost_job(request);
    std::set<std::string> none;
    for (const CostGap& gap : result.gaps)
        if (gap.tokens == 127) none.insert(gap.mixer);
    EXPECT_EQ(none, mixers_that(
                        [](const MixerTraits& traits) { return traits.causal && traits.on_grid; }));
    for (const CostRow& row : result.rows)
        EXPECT_EQ(row.shape.tokens == 127 ? none.count(row.mixer) : 0, 0u) << row.mixer;
}

TEST(CostJob, RefusesLengthsAndStaysFinite) {
    CostRequest request = request_for("aft-full", "text");
    for (const int64_t length : {int64_t{0}, int64_t{-1}, kMostCostTokens + 1}) {
        request.lengths = {length};
        EXPECT_THROW((void)cost_job(request), Error) << length;
    }
    for (int64_t length = 1; length <= static_cast<int64_t>(kMostCostLengths) + 1; ++length)
        request.lengths.push_back(length);
    request.lengths.erase(request.lengths.begin());
    EXPECT_THROW((void)cost_job(request), Error);
    request.lengths = {1, kMostCostTokens};
    for (const CostRow& row : cost_job(request).rows) {
        EXPECT_TRUE(std::isfinite(row.cost.layer.backward_flops)) << row.mixer;
        EXPECT_GT(row.cost.layer.kept_bytes, 0) << row.mixer;
    }
    request.lengths.clear();  // 24 tokens
    std::set<int64_t> lengths;
    for (const CostRow& row : cost_job(request).rows) lengths.insert(row.shape.tokens);
    EXPECT_EQ(lengths, (std::set<int64_t>{6, 12, 24, 48, 96, 192}));
}

}  // namespace
}  // namespace aft

// Maps alone: every layout is read as it was written, and shown by the probes pair by pair; what is
// hidden counts nowhere.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "model/checkpoints/map_tensors.h"
#include "model/jobs.h"
#include "tests/model/checkpoints/opened_maps.h"
#include "tests/model/train/train_fixtures.h"

namespace aft {
namespace {

constexpr float kHidden = -std::numeric_limits<float>::infinity();

struct HeadPair {
    int64_t h = 0, t = 0, j = 0;  // head, target, source
};

// w of the pair by the definition of the layout.
float written(const MapLayer& layer, const std::vector<float>& values, const HeadPair& pair) {
    const auto [h, t, j] = pair;
    const int64_t T = layer.tokens(), s = layer.taps, half = s / 2, columns = layer.columns();
    const auto at = [&](int64_t i) { return values[static_cast<size_t>(i)]; };
    const auto is_tap = [&](int64_t o) { return o >= 0 && o < s; };
    if (layer.layout == BiasLayout::matrix) return at((h * T + t) * T + j);
    if (layer.layout == BiasLayout::band)
        return is_tap(j - t + half) ? at((h * T + t) * s + j - t + half) : 0;
    if (layer.layout == BiasLayout::kernel_1d)
        return is_tap(j - t + half) ? at(h * s + j - t + half) : 0;
    const int64_t a = j / columns - t / columns + half, b = j % columns - t % columns + half;
    return is_tap(a) && is_tap(b) ? at((h * s + a) * s + b) : 0;
}

TEST(Maps, EveryLayoutIsShownPairByPair) {
    for (const bool causal : {false, true}) {
        const OpenedMaps maps(mixed_maps(causal), mixed_tensors());
        ASSERT_EQ(maps.checkpoint.config.model.layers, 5);
        EXPECT_EQ(maps.checkpoint.step, 12);
        int64_t seen = 0;
        for (int64_t i = 0; i < 5; ++i) {
            SCOPED_TRACE(maps.layer(i).name);
            const MapLayer& layer = maps.layer(i);
            const int64_t T = layer.tokens();
            const Field field = maps.probe("bias", i).fields.front();
            ASSERT_EQ(field.size(), layer.heads * T * T);
            ASSERT_EQ(field.shape.size(), layer.has_heads ? 3u : 2u);
            for (int64_t h = 0; h < layer.heads; ++h)
                for (int64_t t = 0; t < T; ++t)
                    for (int64_t j = 0; j < T; ++j, ++seen) {
                        const float w = field.values[static_cast<size_t>((h * T + t) * T + j)];
                        const float want =
                            written(layer, maps.tensors[static_cast<size_t>(i)].values, {h, t, j});
                        if (causal && j > t)
                            EXPECT_TRUE(std::isnan(w)) << h << " " << t << " " << j;
                        else
                            EXPECT_EQ(w, want) << h << " " << t << " " << j;
                    }
        }
        EXPECT_EQ(seen, 16 + 2 * 36 + 2 * 25 + 3 * 49 + 64);
    }
}

TEST(Maps, HeadsTapsAndGridsAreThoseOfEachLayer) {
    const OpenedMaps maps(mixed_maps(), mixed_tensors());
    const ModelConfig& model = maps.checkpoint.config.model;
    EXPECT_EQ(model.tokens(), 8) << "of the longest";
    EXPECT_FALSE(model.causal());
    const BiasLayout layouts[] = {BiasLayout::matrix, BiasLayout::matrix, BiasLayout::band,
                                  BiasLayout::kernel_1d, BiasLayout::kernel_2d};
    const int64_t heads[] = {1, 2, 2, 3, 1}, windows[] = {0, 0, 2, 3, 3};
    for (int64_t i = 0; i < 5; ++i) {
        const MixerTraits traits = mixer_traits(model, i);
        EXPECT_EQ(traits.bias, layouts[i]);
        EXPECT_EQ(traits.heads, heads[i]);
        EXPECT_EQ(traits.window, windows[i]);
        EXPECT_EQ(traits.free_rows, i == 0 || i == 2);
    }
    const MixerTraits common = mixer_traits(model);
    EXPECT_EQ(common.bias, BiasLayout::matrix) << "what they have in common: pairs";
    EXPECT_EQ(common.heads, 3);
    EXPECT_FALSE(task_traits(model).is_trainable());
    const OpenedMaps alike(
        maps_of({map_entry("a", "band", {5}), map_entry("b", "band", {9})}),
        {counted_tensor("biases.0", {2, 5, 3}), counted_tensor("biases.1", {1, 9, 5})});
    EXPECT_EQ(mixer_traits(alike.checkpoint.config.model).bias, BiasLayout::band);
}

TEST(Maps, ABandIsShownByOffset) {
    const OpenedMaps maps(maps_of({map_entry("near", "band", {5})}),
                          {counted_tensor("biases.0", {1, 5, 3})});
    const Field field = maps.probe("bias", 0, {{"view", "band"}}).fields.front();
    ASSERT_EQ(field.shape, (std::vector<int64_t>{1, 5, 3}));
    for (int64_t t = 0; t < 5; ++t)
        for (int64_t c = 0; c < 3; ++c) {  // offsets t - j: -1, 0, 1
            const int64_t j = t - (c - 1);
            const float w = field.values[static_cast<size_t>(t * 3 + c)];
            if (j < 0 || j >= 5)
                EXPECT_TRUE(std::isnan(w));
            else
                EXPECT_EQ(w, maps.tensors[0].values[static_cast<size_t>(t * 3 + j - t + 1)]);
        }
}

// [2, 3, 3]: head 0 sees all, head 1 does not see source 2 from target 0.
std::vector<MapsTensor> masked_tensors() {
    std::vector<MapsTensor> tensors{counted_tensor("biases.0", {2, 3, 3})};
    tensors[0].values[9 + 2] = kHidden;
    return tensors;
}

TEST(Maps, MinusInfinityHidesASourceFromOneHead) {
    const OpenedMaps maps(maps_of({map_entry("masked", "full", {3})}), masked_tensors());
    const Field w = maps.probe("bias", 0).fields.front();
    EXPECT_EQ(w.values[2], 0.5F);
    EXPECT_TRUE(std::isnan(w.values[9 + 2]));
    EXPECT_EQ(w.values[9 + 1], maps.tensors[0].values[10]);
    const Field shares =
        maps.probe("bias", 0, {{"quantity", "row-share"}, {"visible", "nan"}}).fields.front();
    EXPECT_NEAR(shares.values[9] + shares.values[10], 1, 1e-6) << "of the two that it sees";
    const Field fixed = maps.probe("bias", 0, {{"gauge", "fixed"}}).fields.front();
    EXPECT_NEAR(std::exp(fixed.values[9]) + std::exp(fixed.values[10]), 2, 1e-5);
    const FieldSet blocks = maps.probe("bias", 0, {{"blocks", "3"}});
    EXPECT_EQ(blocks.find("count")->values, (std::vector<float>{9, 8}));
    float sum = 0;
    for (size_t i = 9; i < 18; ++i) sum += i == 11 ? 0 : maps.tensors[0].values[i];
    EXPECT_NEAR(blocks.find("mean")->values[1], sum / 8, 1e-6);
    const FieldSet one = maps.probe("bias", 0, {{"blocks", "3"}});
    EXPECT_EQ(one.find("min")->values[1], maps.tensors[0].values[9]);
    EXPECT_TRUE(is_bias_alone(maps.checkpoint));
    EXPECT_TRUE(inspect_job(maps.file().string()).not_finite.empty()) << "a mask is no fault";
}

TEST(Maps, AKernelIsShownByTaps) {
    std::vector<MapsTensor> tensors{counted_tensor("biases.0", {2, 3, 3})};
    tensors[0].values[4] = kHidden;
    const OpenedMaps maps(maps_of({map_entry("square", "kernel2d", {4, 4}, "none")}), tensors);
    const Field field = maps.probe("kernel", 0).fields.front();
    ASSERT_EQ(field.shape, (std::vector<int64_t>{2, 3, 3}));
    for (size_t i = 0; i < 18; ++i)
        if (i == 4)
            EXPECT_TRUE(std::isnan(field.values[i]));
        else
            EXPECT_EQ(field.values[i], tensors[0].values[i]);
    const OpenedMaps full(plain_maps(), plain_tensors());
    EXPECT_TRUE(has(error_of([&] { (void)full.probe("kernel", 0); }), "no kernel"));
}

// min, max, mean and norm of the visible pairs, by a loop over all pairs of positions.
TEST(Maps, StatisticsAreOfWhatIsSeen) {
    const OpenedMaps maps(mixed_maps(/*causal=*/true), mixed_tensors());
    const InspectResult result = inspect_job(maps.file().string());
    ASSERT_EQ(result.bias.size(), 1u + 2 + 2 + 3 + 1);
    ASSERT_EQ(result.maps.size(), 5u);
    EXPECT_EQ(result.maps[4].grid, (std::vector<int64_t>{2, 2, 2}));
    EXPECT_EQ(result.maps[3].layout, "kernel1d");
    EXPECT_EQ(result.tensors[1].name, "biases.1");
    for (const BiasSummary& row : result.bias) {
        const MapLayer& layer = maps.layer(row.layer);
        const auto& values = maps.tensors[static_cast<size_t>(row.layer)].values;
        const bool is_matrix = layer.layout == BiasLayout::matrix;
        const int64_t entries = static_cast<int64_t>(values.size()) / layer.heads;
        double low = 1e9, high = -1e9, sum = 0, squares = 0;
        int64_t count = 0;
        const auto add = [&](double v) {
            low = std::min(low, v);
            high = std::max(high, v);
            sum += v;
            squares += v * v;
            ++count;
        };
        const int64_t T = layer.tokens(), half = layer.taps / 2;
        if (is_matrix || layer.layout == BiasLayout::band) {
            for (int64_t t = 0; t < T; ++t)
                for (int64_t j = 0; j <= t; ++j)
                    if (is_matrix || t - j <= half) add(written(layer, values, {row.head, t, j}));
        } else {  // the taps up to the middle one: causal
            for (int64_t i = 0; i <= entries / 2; ++i)
                add(values[static_cast<size_t>(row.head * entries + i)]);
        }
        SCOPED_TRACE(layer.name);
        EXPECT_DOUBLE_EQ(row.min, low);
        EXPECT_DOUBLE_EQ(row.max, high);
        EXPECT_NEAR(row.mean, sum / static_cast<double>(count), 1e-6);
        EXPECT_NEAR(row.norm, std::sqrt(squares), 1e-5);
    }
}

// A kernel that is wider than its grid: taps that no pair has do not count.
TEST(Maps, TapsBeyondTheGridDoNotCount) {
    const OpenedMaps maps(maps_of({map_entry("wide", "kernel1d", {2}, "none")}),
                          {counted_tensor("biases.0", {1, 7}, 1, 1)});
    const BiasSummary row = inspect_job(maps.file().string()).bias.front();
    EXPECT_EQ(row.min, 3);
    EXPECT_EQ(row.max, 5);
    EXPECT_EQ(row.mean, 4);
    MapsTensor hidden = counted_tensor("biases.0", {1, 1});
    hidden.values = {kHidden};
    const OpenedMaps none(maps_of({map_entry("none", "kernel1d", {2}, "none")}), {hidden});
    EXPECT_TRUE(std::isnan(inspect_job(none.file().string()).bias.front().mean));
}

TEST(Maps, AreWrittenAsTheyWereRead) {
    const OpenedMaps maps(mixed_maps(true), mixed_tensors());
    const auto copy = maps.folder / "copy.safetensors";
    write_checkpoint(copy, maps.checkpoint);
    const Checkpoint again = read_checkpoint(copy);
    EXPECT_EQ(again.config.model.maps, maps.checkpoint.config.model.maps);
    EXPECT_EQ(again.step, 12);
    ASSERT_EQ(again.weights.size(), 5u);
    for (size_t i = 0; i < 5; ++i) {
        EXPECT_EQ(again.weights[i].first, map_tensor_name(static_cast<int64_t>(i)));
        EXPECT_TRUE(again.weights[i].second.equal(maps.checkpoint.weights[i].second));
    }
    EXPECT_FALSE(config_to_json(again.config).contains("model"));
    EXPECT_EQ(config_from_json(config_to_json(again.config), "x").model.maps.layers.size(), 5u);
}

TEST(Maps, HalfPrecisionIsWidened) {
    const OpenedMaps maps(plain_maps(), plain_tensors());
    const std::string out = (maps.folder / "half.safetensors").string();
    (void)export_weights(maps.file().string(), out, /*half=*/true);
    const Checkpoint half = read_checkpoint(out);
    EXPECT_EQ(half.weights[1].second.scalar_type(), at::kFloat);
    EXPECT_TRUE(half.weights[1].second.equal(maps.checkpoint.weights[1].second))
        << "multiples of 1/8";
    EXPECT_LT(std::filesystem::file_size(out), std::filesystem::file_size(maps.file()));
}

TEST(Maps, ManyLayersStandInTheirOrder) {
    std::vector<nlohmann::json> layers;
    std::vector<MapsTensor> tensors;
    for (int i = 0; i < 12; ++i) {
        layers.push_back(map_entry("layer " + std::to_string(i), "full", {2}));
        tensors.push_back(
            counted_tensor("biases." + std::to_string(i), {2, 2}, static_cast<float>(i)));
    }
    std::swap(tensors[2], tensors[10]);
    const OpenedMaps maps(maps_of(layers), tensors);
    EXPECT_EQ(maps.checkpoint.weights[2].first, "biases.2");
    EXPECT_EQ(maps.probe("bias", 10).fields.front().values[0], 10);
}

TEST(Maps, ARunOfThemIsSummarized) {
    const Scratch folder;
    put_maps_run(folder / "run");
    put_maps_step(folder / "run", 0, 0.25F);
    put_maps_step(folder / "run", 50, 0.5F);
    const RunSummary run = summarize_run((folder / "run").string());
    EXPECT_EQ(run.error, "");
    EXPECT_EQ(run.what, "position biases alone, 2 layers");
    EXPECT_EQ(run.step, 50);
    EXPECT_EQ(run.losses.size(), 2u);
    EXPECT_EQ(run.thumbnail.shape, (std::vector<int64_t>{4, 4})) << "of the newest checkpoint";
    EXPECT_NO_THROW(check_model((folder / "run").string()));
    const InspectResult found = inspect_job((folder / "run").string());
    EXPECT_EQ(found.config.name, "run");
    EXPECT_EQ(found.stored->step, 50);
    const std::string broken = (folder / "run" / "config.json").string();
    put(broken, R"({"name": "mine", "maps": {"layers": 3}})");
    EXPECT_TRUE(has(error_of([&] { (void)load_run_config(broken); }), ": maps.layers"));
    put(broken, R"({"name": "mine", "maps": {"layers": []}, "model": {}})");
    EXPECT_TRUE(has(error_of([&] { (void)load_run_config(broken); }), "'model'"));
}

}  // namespace
}  // namespace aft

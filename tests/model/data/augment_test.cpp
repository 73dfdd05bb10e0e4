// Augmentation: each method repeats for its key, stays within its bounds, does what its formula
// says, and changes nothing at strength 0.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <set>

#include "core/rng.h"
#include "model/data/augment/mix.h"
#include "model/data/augment/operations.h"
#include "model/data/augment/resize.h"
#include "model/data/batch.h"
#include "tests/model/scratch.h"

namespace aft {
namespace {

Image noise(int64_t width, int64_t height, int64_t channels, uint64_t seed) {
    CounterRng rng(seed, 9);
    Image image{width, height, channels, {}};
    for (int64_t i = 0; i < width * height * channels; ++i)
        image.pixels.push_back(static_cast<uint8_t>(rng.below(256)));
    return image;
}

// The weight of source pixel j for target pixel i, straight from the definition of the filter.
double triangle(int64_t i, int64_t j, int64_t source, int64_t target) {
    const double scale = static_cast<double>(source) / static_cast<double>(target);
    const double away =
        std::abs((static_cast<double>(j) + 0.5) - (static_cast<double>(i) + 0.5) * scale);
    return std::max(0.0, 1 - away / std::max(1.0, scale));
}

double resized_value(const Image& image, const PixelRectangle& part, const PixelRectangle& target,
                     int64_t channel) {  // target: x, y of the pixel, size of the picture
    double sum = 0, weights = 0;
    for (int64_t y = 0; y < part.height; ++y)
        for (int64_t x = 0; x < part.width; ++x) {
            const double weight = triangle(target.x, x, part.width, target.width) *
                                  triangle(target.y, y, part.height, target.height);
            const int64_t pixel = (part.y + y) * image.width + part.x + x;
            sum += weight * image.pixels[static_cast<size_t>(pixel * image.channels + channel)];
            weights += weight;
        }
    return sum / weights;
}

TEST(Resize, is_the_triangle_filter_of_a_slow_reference) {
    const Image image = noise(23, 17, 3, 4);
    const std::vector<PixelRectangle> parts = {
        {0, 0, 23, 17}, {3, 5, 11, 9}, {22, 16, 1, 1}, {0, 2, 23, 3}};
    const std::vector<std::pair<int64_t, int64_t>> sizes = {{8, 8}, {31, 5}, {23, 40}};
    for (const PixelRectangle& part : parts)
        for (const auto& [width, height] : sizes) {
            const Image out = resize_part(image, part, width, height);
            ASSERT_EQ(out.pixels.size(), static_cast<size_t>(width * height * 3));
            double worst = 0;
            for (int64_t y = 0; y < height; ++y)
                for (int64_t x = 0; x < width; ++x)
                    for (int64_t c = 0; c < 3; ++c) {
                        const double wanted = resized_value(image, part, {x, y, width, height}, c);
                        const auto at = static_cast<size_t>((y * width + x) * 3 + c);
                        worst = std::max(worst, std::abs(out.pixels[at] - wanted));
                    }
            EXPECT_LE(worst, 0.501) << width << " x " << height;
        }
    EXPECT_EQ(resize_part(image, {0, 0, 23, 17}, 23, 17).pixels, image.pixels);
}

TEST(Crop, repeats_for_its_key_and_shows_parts_of_the_picture) {
    Image ramp{200, 100, 1, {}};  // its column can be read off
    for (int y = 0; y < 100; ++y)
        for (int x = 0; x < 200; ++x) ramp.pixels.push_back(static_cast<uint8_t>(x));
    std::set<int> starts;
    double share = 0;
    constexpr int kDraws = 400;
    for (uint64_t number = 0; number < kDraws; ++number) {
        const Image out = random_resized_crop(ramp, {16, 16, 0.08}, {1, number});
        ASSERT_EQ(out.pixels.size(), 256U);
        EXPECT_EQ(random_resized_crop(ramp, {16, 16, 0.08}, {1, number}).pixels, out.pixels);
        EXPECT_TRUE(std::is_sorted(out.pixels.begin(), out.pixels.begin() + 16));
        starts.insert(out.pixels[0]);
        share += (out.pixels[15] - out.pixels[0]) * 16 / 15.0 / 200;
    }
    EXPECT_GT(starts.size(), 50U);
    EXPECT_GT(share / kDraws, 0.2);
    EXPECT_LT(share / kDraws, 0.6);
    // No draw of all of the area fits a picture twice as wide as high: 4:3 around the centre.
    const Image whole = random_resized_crop(ramp, {16, 16, 1}, {1, 2});
    EXPECT_NEAR(whole.pixels[0] + whole.pixels[15], 198, 1.5);
    EXPECT_NEAR((whole.pixels[15] - whole.pixels[0]) * 16 / 15.0, 133, 2);
}

TEST(Operations, know_a_strength_that_changes_nothing) {
    for (const int64_t channels : {1, 3}) {
        const Image image = noise(9, 7, channels, 5);
        for (const Image& same :
             {transformed(image, {1, 0, 0, 0, 1, 0}), solarized(image, 256), posterized(image, 8),
              with_color(image, 1), with_contrast(image, 1), with_brightness(image, 1),
              with_sharpness(image, 1), rand_augment(image, {5, 0}, {1, 1})})
            EXPECT_EQ(same.pixels, image.pixels);
    }
}

TEST(Operations, do_what_they_say) {
    const Image image{4, 1, 1, {50, 100, 150, 200}};
    using Values = std::vector<uint8_t>;
    EXPECT_EQ(solarized(image, 150).pixels, (Values{50, 100, 105, 55}));
    EXPECT_EQ(posterized(image, 2).pixels, (Values{0, 64, 128, 192}));
    EXPECT_EQ(auto_contrast(image).pixels, (Values{0, 85, 170, 255}));
    EXPECT_EQ(equalized({4, 1, 1, {7, 8, 8, 90}}).pixels, (Values{0, 170, 170, 255}));
    EXPECT_EQ(with_brightness(image, 1.5).pixels, (Values{75, 150, 225, 255}));
    EXPECT_EQ(with_contrast(image, 0).pixels, (Values{125, 125, 125, 125}));
    EXPECT_EQ(transformed(image, {1, 0, 1, 0, 1, 0}).pixels, (Values{100, 150, 200, 114}));
    const Image dot{3, 3, 1, {0, 0, 0, 0, 130, 0, 0, 0, 0}};
    EXPECT_EQ(with_sharpness(dot, 0).pixels[4], 50);
    EXPECT_EQ(with_color({1, 1, 3, {255, 0, 0}}, 0).pixels, (Values{76, 76, 76}));
    const Image quarter = transformed(dot, {0, 1, 0, -1, 0, 0});  // a quarter turn
    EXPECT_EQ(quarter.pixels, dot.pixels);
    EXPECT_EQ(auto_contrast({2, 1, 1, {9, 9}}).pixels, (Values{9, 9}));
    EXPECT_EQ(equalized({2, 1, 1, {9, 9}}).pixels, (Values{9, 9}));
}

TEST(RandAugment, repeats_for_its_key_and_draws_many_pictures) {
    const Image image = noise(12, 10, 3, 6);
    std::set<std::vector<uint8_t>> different;
    for (uint64_t number = 0; number < 200; ++number) {
        const Image out = rand_augment(image, {2, 9}, {3, number});
        EXPECT_EQ(out.pixels.size(), image.pixels.size());
        EXPECT_EQ(rand_augment(image, {2, 9}, {3, number}).pixels, out.pixels);
        different.insert(out.pixels);
    }
    EXPECT_GT(different.size(), 90U);
}

TEST(Erasing, changes_a_rectangle_of_its_area_with_its_probability) {
    constexpr int kDraws = 400;
    int erased = 0;
    for (uint64_t number = 0; number < kDraws; ++number) {
        const at::Tensor picture = at::full({3, 32, 32}, 7.0F), again = picture.clone();
        random_erase(picture, 0.25, {2, number});
        random_erase(again, 0.25, {2, number});
        EXPECT_TRUE(picture.equal(again));
        const at::Tensor changed = picture.ne(7).all(0);
        const auto count = changed.sum().item<double>();
        if (count == 0) continue;
        ++erased;
        EXPECT_TRUE(picture.ne(7).equal(changed.expand({3, 32, 32})));
        const auto rows = changed.any(1).sum().item<double>();
        EXPECT_EQ(count, rows * changed.any(0).sum().item<double>()) << "a rectangle";
        EXPECT_GE(count / 1024, 0.01);
        EXPECT_LE(count / 1024, 0.36);
        EXPECT_LT(picture.masked_select(picture.ne(7)).abs().max().item<double>(), 6);
    }
    EXPECT_NEAR(erased, kDraws / 4.0, 35);
    const at::Tensor picture = at::full({3, 32, 32}, 7.0F);
    random_erase(picture, 0, {2, 1});
    EXPECT_TRUE(picture.eq(7).all().item<bool>());
}

Batch numbered_batch() {
    Batch batch;
    batch.input = at::arange(4).view({4, 1, 1, 1}).expand({4, 2, 8, 8}).to(at::kFloat).contiguous();
    batch.target = at::arange(4);
    return batch;
}

TEST(Mixing, targets_are_the_shares_of_the_pictures) {
    double sum = 0, squares = 0;
    int cuts = 0;
    constexpr int kDraws = 600;
    for (uint64_t step = 0; step < kDraws; ++step) {
        const Batch before = numbered_batch();
        Batch batch = numbered_batch(), again = numbered_batch();
        mix_batch(batch, {0.8, 1, 5}, {4, step});
        mix_batch(again, {0.8, 1, 5}, {4, step});
        ASSERT_TRUE(batch.input.equal(again.input));
        ASSERT_TRUE(batch.soft_target.equal(again.soft_target));
        EXPECT_TRUE(at::allclose(batch.soft_target.sum(1), at::ones({4})));
        const double share = batch.soft_target[0][0].item<double>();
        // Pictures hold their number: their mean is the mix of the labels, cut or blended.
        const at::Tensor means = batch.input.mean({1, 2, 3});
        const at::Tensor expected = batch.soft_target.matmul(at::arange(5).to(at::kFloat));
        EXPECT_TRUE(at::allclose(means, expected, 1e-4, 1e-4));
        const bool is_cut = batch.input.eq(before.input)
                                .logical_or(batch.input.eq(before.input.flip(0)))
                                .all()
                                .item<bool>();
        cuts += is_cut;
        if (!is_cut) {
            sum += share;
            squares += share * share;
        }
        EXPECT_EQ(batch.target[0].item<int64_t>(), share < 0.5 ? 3 : 0);
    }
    EXPECT_NEAR(cuts, kDraws / 2.0, 60);
    const double n = kDraws - cuts, mean = sum / n;
    EXPECT_NEAR(mean, 0.5, 0.06);
    EXPECT_NEAR(squares / n - mean * mean, 1 / (4 * (2 * 0.8 + 1)), 0.015) << "Beta(0.8, 0.8)";
    Batch same = numbered_batch();
    mix_batch(same, {0, 0, 5}, {4, 1});
    EXPECT_TRUE(same.input.equal(numbered_batch().input));
    EXPECT_FALSE(same.soft_target.defined());
}

LoaderOptions shapes_options(const DataSource& source, const std::string& augment) {
    LoaderOptions options;
    options.model.task = "classify";
    options.model.own["patch"] = 4;
    fit_model(options.model, source);
    options.data.augment = augment;
    options.batch = 6;
    options.seed = 9;
    return options;
}

TEST(Recipe, batches_are_a_function_of_seed_and_step_whatever_the_threads) {
    const std::shared_ptr<const DataSource> source = open_source("shapes?size=16", 4);
    LoaderOptions options = shapes_options(*source, "recipe-c");
    options.data.threads = 0;
    Loader alone(source, options);
    std::vector<Batch> expected;
    for (int64_t step = 0; step < 8; ++step) expected.push_back(alone.next(step));
    for (const int64_t threads : {1, 3}) {
        options.data.threads = threads;
        Loader loader(source, options);
        for (const int64_t step : {0, 1, 2, 3, 6, 7, 2, 3, 4}) {
            const Batch batch = loader.next(step);
            const Batch& wanted = expected[static_cast<size_t>(step)];
            EXPECT_TRUE(batch.input.equal(wanted.input)) << threads << ", " << step;
            EXPECT_TRUE(batch.soft_target.equal(wanted.soft_target)) << threads << ", " << step;
        }
    }
}

TEST(Recipe, without_any_strength_is_a_flip) {
    const std::shared_ptr<const DataSource> source = open_source("shapes?size=16", 4);
    LoaderOptions options = shapes_options(*source, "recipe-c");
    options.data.strengths = {.crop = 0, .rand_augment = 0, .erasing = 0, .mixup = 0, .cutmix = 0};
    Loader off(source, options), flip(source, shapes_options(*source, "flip"));
    const Batch a = off.next(3), b = flip.next(3);
    EXPECT_TRUE(a.input.equal(b.input));
    EXPECT_TRUE(a.target.equal(b.target));
    EXPECT_FALSE(a.soft_target.defined());
}

TEST(Recipe, repeated_examples_follow_each_other_augmented_anew) {
    const std::shared_ptr<const DataSource> source = open_source("shapes?size=16", 4);
    LoaderOptions options = shapes_options(*source, "none"), once = options;
    options.data.strengths.repeated = 3;
    Loader loader(source, options), plain(source, once);
    const Batch batch = loader.next(0), single = plain.next(0);
    for (int64_t i = 0; i < 6; ++i) EXPECT_TRUE(batch.input[i].equal(single.input[i / 3]));
    options.data.strengths.rand_augment = 9;
    Loader augmented(source, options);
    const Batch changed = augmented.next(0);
    EXPECT_TRUE(changed.target.equal(batch.target));
    EXPECT_FALSE(changed.input[0].equal(changed.input[1]));
}

TEST(Recipe, strengths_are_checked_and_minus_one_is_the_recipe) {
    DataConfig data;
    EXPECT_FALSE(data.resolved().any());
    data.augment = "recipe-c";
    data.strengths.mixup = 0;
    const AugmentStrengths on = data.resolved();
    EXPECT_EQ(on.mixup, 0);
    EXPECT_EQ(on.cutmix, 1);
    EXPECT_EQ(on.crop, 0.08);
    EXPECT_EQ(on.rand_augment, 9);
    EXPECT_EQ(on.erasing, 0.25);
    Config config;
    config.data.augment = "recipe-c";  // model.task is image
    EXPECT_TRUE(has(error_of([&] { config.check(); }), "model.task=classify"));
    config.data.augment = "none";
    config.data.strengths.crop = -0.5;
    EXPECT_TRUE(has(error_of([&] { config.check(); }), "data.crop"));
    config.data.strengths.crop = 0.5;
    EXPECT_EQ(error_of([&] { config.check(); }), "");
    config.model.task = "text";
    EXPECT_TRUE(has(error_of([&] { config.check(); }), "text"));
}

}  // namespace
}  // namespace aft

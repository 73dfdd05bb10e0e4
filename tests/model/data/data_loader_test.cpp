#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <set>

#include "core/check.h"
#include "model/data/batch.h"
#include "model/data/loader.h"
#include "tests/model/scratch.h"

namespace aft {
namespace {

// Example i of a tiny source holds its own number, so that the order can be read off.
class Numbers : public DataSource {
  public:
    explicit Numbers(int64_t count, int64_t broken = -1) : count_(count), broken_(broken) {
        info_.height = info_.width = 2;
        info_.channels = 1;
        info_.classes = 10;
    }
    [[nodiscard]] const DataInfo& info() const override { return info_; }
    [[nodiscard]] int64_t size(Split) const override { return count_; }
    [[nodiscard]] Example example(Split, int64_t index) const override {
        AFT_CHECK(index != broken_, "picture {} is broken", index);
        const auto low = static_cast<uint8_t>(index % 256);
        return {{low, static_cast<uint8_t>(index / 256), 0, 255}, index % 10};
    }

  private:
    int64_t count_, broken_;
    DataInfo info_;
};

ModelConfig model_of(const DataSource& source, const std::string& task = "image") {
    ModelConfig model;
    model.task = task;
    model.own["patch"] = 1;
    fit_model(model, source);
    return model;
}

int64_t number_of(const at::Tensor& row) {
    return row[0].item<int64_t>() + 256 * row[1].item<int64_t>();
}

TEST(Loader, one_epoch_holds_every_example_once_and_the_next_has_another_order) {
    const auto source = std::make_shared<Numbers>(300);
    Loader loader(source, {model_of(*source), {}, 10, 5});
    std::vector<int64_t> epochs[2];
    for (int64_t step = 0; step < 60; ++step) {
        const at::Tensor input = loader.next(step).input;
        for (int64_t i = 0; i < 10; ++i) epochs[step / 30].push_back(number_of(input[i]));
    }
    for (const auto& epoch : epochs)
        EXPECT_EQ(std::set<int64_t>(epoch.begin(), epoch.end()).size(), 300U);
    EXPECT_NE(epochs[0], epochs[1]);
    EXPECT_FALSE(std::is_sorted(epochs[0].begin(), epochs[0].end()));
}

TEST(Loader, permutations_are_bijections_for_every_size) {
    for (int64_t n : {1, 2, 3, 5, 17, 64, 100, 1000})
        for (uint64_t epoch : {0, 1}) {
            std::set<int64_t> seen;
            for (int64_t i = 0; i < n; ++i) seen.insert(permuted(3, epoch, n, i));
            EXPECT_EQ(static_cast<int64_t>(seen.size()), n);
            EXPECT_LT(*seen.rbegin(), n);
            EXPECT_GE(*seen.begin(), 0);
        }
}

TEST(Loader, batches_do_not_depend_on_threads_or_on_the_order_of_asking) {
    const std::shared_ptr<const DataSource> source = open_source("shapes?size=8", 4);
    const ModelConfig model = model_of(*source);
    DataConfig data;
    data.augment = "recipe-a";
    std::vector<at::Tensor> expected;
    data.threads = 0;
    Loader alone(source, {model, data, 6, 9});
    for (int64_t step = 0; step < 12; ++step) expected.push_back(alone.next(step).input);
    for (int64_t threads : {1, 3}) {
        data.threads = threads;
        Loader loader(source, {model, data, 6, 9});
        for (int64_t step : {0, 1, 2, 3, 4, 5, 9, 10, 2, 3, 0, 11, 11})
            EXPECT_TRUE(loader.next(step).input.equal(expected[static_cast<size_t>(step)]))
                << threads << " threads, step " << step;
    }
    data.threads = 1;
    Loader other(source, {model, data, 6, 10});
    EXPECT_FALSE(other.next(0).input.equal(expected[0]));
}

TEST(Loader, an_exception_in_a_thread_arrives_at_the_caller) {
    const auto source = std::make_shared<Numbers>(40, 17);
    for (int64_t threads : {0, 1, 3}) {
        DataConfig data;
        data.threads = threads;
        Loader loader(source, {model_of(*source), data, 4, 5});
        int errors = 0;
        for (int64_t step = 0; step < 10; ++step)
            errors += error_of([&] { (void)loader.next(step); }) == "picture 17 is broken";
        EXPECT_EQ(errors, 1) << threads << " threads";
    }
}

TEST(Loader, classification_gets_normalised_pictures_and_labels) {
    const auto source = std::make_shared<Numbers>(100);
    const Batch batch = load_batch(*source, model_of(*source, "classify"), {Split::test, 7, 2});
    EXPECT_EQ(batch.input.sizes(), (std::vector<int64_t>{2, 1, 2, 2}));
    EXPECT_FLOAT_EQ(batch.input[0][0][0][0].item<float>(), 7.0F / 255 * 2 - 1);
    EXPECT_FLOAT_EQ(batch.input[0][0][1][1].item<float>(), 1);
    EXPECT_EQ(batch.target[1].item<int64_t>(), 8);
}

TEST(Loader, text_windows_lie_in_the_training_part_and_cover_it) {
    const Scratch folder;
    std::string text;
    for (int i = 0; i < 2000; ++i) text += static_cast<char>(i % 200);
    put(folder / "t", text);
    const std::shared_ptr<const DataSource> source =
        open_source("text:" + (folder / "t").string(), 1, 50);
    ModelConfig model;
    model.task = "text";
    model.own["length"] = 50;
    fit_model(model, *source);
    Loader loader(source, {model, {}, 5, 1});
    std::set<int64_t> starts, offsets;
    for (int64_t step = 0; step < 70; ++step) {
        const at::Tensor input = loader.next(step).input;
        EXPECT_EQ(input.sizes(), (std::vector<int64_t>{5, 50}));
        for (int64_t row = 0; row < 5; ++row) {
            const int64_t first = input[row][0].item<int64_t>();
            starts.insert(first);
            offsets.insert(first % 50);
            EXPECT_EQ((input[row][49].item<int64_t>() - first + 200) % 200, 49);
        }
    }
    EXPECT_GT(starts.size(), 30U);
    EXPECT_GT(offsets.size(), 4U) << "each epoch has another offset";
    model.own["length"] = 1801;
    // The training part is nine tenths of it: 1800 of 2000, 1801 of 2002.
    EXPECT_TRUE(has(error_of([&] { Loader(source, {model, {}, 5, 1}); }),
                    "has 2000 bytes; the model needs at least 2002"));
}

TEST(Augment, every_kind_does_what_it_says) {
    DataInfo info;
    info.height = 1;
    info.width = 4;
    info.channels = 1;
    const std::vector<uint8_t> values = {5, 100, 200, 250};
    std::set<std::vector<uint8_t>> flips, shifts;
    std::set<int> added;
    for (uint64_t number = 0; number < 2000; ++number) {
        std::vector<uint8_t> v = values;
        augment(Augment::flip, info, {1, number}, v);
        flips.insert(v);
        v = values;
        augment(Augment::shift, info, {1, number}, v);
        shifts.insert(v);
        v = values;
        augment(Augment::recipe_a, info, {1, number}, v);
        const bool flipped = v[1] > v[2];
        const int amount = v[flipped ? 2 : 1] - 100;
        added.insert(amount);
        EXPECT_EQ(v[flipped ? 3 : 0], std::max(0, 5 + amount));
        EXPECT_EQ(v[flipped ? 0 : 3], std::min(255, 250 + amount));
    }
    EXPECT_EQ(flips, (std::set<std::vector<uint8_t>>{values, {250, 200, 100, 5}}));
    EXPECT_EQ(
        shifts,
        (std::set<std::vector<uint8_t>>{
            values, {5, 5, 100, 200}, {5, 5, 5, 100}, {100, 200, 250, 250}, {200, 250, 250, 250}}));
    EXPECT_EQ(*added.begin(), -10);
    EXPECT_EQ(*added.rbegin(), 10);
    EXPECT_EQ(added.size(), 21U);
    EXPECT_TRUE(has(error_of([] { (void)parse_augment("mixup"); }), "recipe-a"));
}

TEST(Fit, a_source_that_does_not_fit_is_an_error_with_both_shapes) {
    const auto mirror = open_source("mirror", 1), shapes = open_source("shapes", 1);
    ModelConfig model = model_of(*mirror);
    check_fit(*mirror, model);
    model.height = 32;
    const std::string message = error_of([&] { check_fit(*mirror, model); });
    EXPECT_TRUE(has(message, "32 x 16") && has(message, "16 x 16")) << message;
    EXPECT_TRUE(
        has(error_of([&] { check_fit(*mirror, model_of(*mirror, "classify")); }), "0 classes"));
    EXPECT_TRUE(has(error_of([&] { check_fit(*mirror, model_of(*mirror, "text")); }), "pictures"));
    ModelConfig classify = model_of(*shapes, "classify");
    check_fit(*shapes, classify);
    classify.height = 16;
    EXPECT_TRUE(has(error_of([&] { check_fit(*shapes, classify); }), "16 x 32"));
    classify.positions = "none";
    check_fit(*shapes, classify);
}

}  // namespace
}  // namespace aft

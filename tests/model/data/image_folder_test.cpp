// Folders of pictures: parts, hold-out, classes against a model's, and pictures that cannot be
// read.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/check.h"
#include "model/data/batch.h"
#include "model/data/classes.h"
#include "tests/model/scratch.h"
#include "tests/model/warnings_of_test.h"

namespace aft {
namespace {

// A grey picture of 8 x 8 whose value can be read off.
void add_picture(const fs::path& path, int value) {
    fs::create_directories(path.parent_path());
    put(path, "P5 8 8 255\n" + std::string(64, static_cast<char>(value)));
}

std::string spec_of(const Scratch& folder, const std::string& options = "") {
    return "images:" + folder.path().string() + "?size=4&gray=1" + options;
}

std::set<int> values_of(const DataSource& source, Split split) {
    std::set<int> values;
    for (int64_t i = 0; i < source.size(split); ++i)
        values.insert(source.example(split, i).values[0]);
    return values;
}

TEST(ImageFolder, train_and_val_are_the_parts) {
    for (const std::string held : {"val", "valid", "validation"}) {
        const Scratch folder;
        add_picture(folder / "train/cat/1.pgm", 1);
        add_picture(folder / "train/dog/2.pgm", 2);
        add_picture(folder / "train/owl/3.pgm", 3);
        add_picture(folder / held / "owl/4.pgm", 4);
        add_picture(folder / "test/dog/5.pgm", 5);
        const auto source = open_source(spec_of(folder), 1);
        EXPECT_EQ(source->info().class_names, (std::vector<std::string>{"cat", "dog", "owl"}));
        EXPECT_EQ(values_of(*source, Split::train), (std::set<int>{1, 2, 3}));
        EXPECT_EQ(values_of(*source, Split::validation), (std::set<int>{4}));
        EXPECT_EQ(source->example(Split::validation, 0).label, 2);
        EXPECT_EQ(source->example(Split::test, 0).label, 1);
        const auto all = open_source(spec_of(folder, "&split=all"), 1);
        EXPECT_EQ(values_of(*all, Split::test), (std::set<int>{1, 2, 3, 4, 5}));
        EXPECT_EQ(all->size(Split::train) + all->size(Split::validation), 0);
        EXPECT_EQ(split_of(parse_spec(spec_of(folder, "&split=all")), *all), Split::test);
        EXPECT_TRUE(
            has(error_of([&] { (void)open_source(spec_of(folder, "&holdout=5"), 1); }), "holdout"));
        add_picture(folder / held / "fox/6.pgm", 6);
        EXPECT_TRUE(has(error_of([&] { (void)open_source(spec_of(folder), 1); }), "class 'fox'"));
    }
    EXPECT_TRUE(has(error_of([] { (void)open_source("mirror?split=all", 1); }), "split 'all'"));
}

TEST(ImageFolder, holdout_is_a_percentage_and_a_larger_one_holds_the_smaller) {
    const Scratch folder;
    for (int i = 0; i < 250; ++i) add_picture(folder / (std::to_string(i) + ".pgm"), i);
    const auto held = [&](const std::string& options) {
        const auto source = open_source(spec_of(folder, options), 1);
        EXPECT_EQ(source->size(Split::train) + source->size(Split::validation), 250);
        return values_of(*source, Split::validation);
    };
    const std::set<int> usual = held(""), more = held("&holdout=30");
    EXPECT_EQ(held("&holdout=10"), usual);
    EXPECT_TRUE(held("&holdout=0").empty());
    EXPECT_NEAR(static_cast<double>(more.size()), 75, 25);
    EXPECT_TRUE(std::includes(more.begin(), more.end(), usual.begin(), usual.end()));
    for (const std::string bad : {"holdout=91", "holdout=x", "crop=0", "crop=nan", "crop=2"})
        EXPECT_TRUE(has(error_of([&] { (void)open_source(spec_of(folder, "&" + bad), 1); }),
                        bad.substr(0, bad.find('='))))
            << bad;
}

TEST(ImageFolder, crop_keeps_the_middle) {
    const Scratch folder;
    std::string pixels(64, '\0');  // 8 x 8: black with a white middle of 4 x 4
    for (size_t y = 2; y < 6; ++y)
        for (size_t x = 2; x < 6; ++x) pixels[8 * y + x] = '\xff';
    put(folder / "a.pgm", "P5 8 8 255\n" + pixels);
    const auto value = [&](const std::string& options, size_t at) {
        return open_source(spec_of(folder, options), 1)->example(Split::train, 0).values[at];
    };
    EXPECT_EQ(value("", 0), 0);
    EXPECT_EQ(value("&crop=0.5", 0), 255);
    EXPECT_EQ(value("&crop=0.75", 0), 28) << "1.5 x 1.5 pixels, 0.5 x 0.5 of them white";
}

TEST(ImageFolder, classes_are_compared_with_the_models) {
    const Scratch folder;
    add_picture(folder / "ant/1.pgm", 1);
    add_picture(folder / "bee/2.pgm", 2);
    const auto open = [&](const std::vector<std::string>& names, bool by_name) {
        return with_known_classes(open_source(spec_of(folder, "&split=all"), 1),
                                  {.class_names = names, .classes_by_name = by_name});
    };
    EXPECT_EQ(open({"ant", "bee"}, false)->info().classes, 2);
    EXPECT_EQ(open({}, false)->info().classes, 2);
    const std::string differs = error_of([&] { (void)open({"ant", "cow"}, false); });
    EXPECT_TRUE(has(differs, "class 1 is 'bee' in the data, 'cow' in the model")) << differs;
    EXPECT_TRUE(has(differs, "--classes by-name"));
    EXPECT_TRUE(has(error_of([&] { (void)open({"ant", "bee", "cow"}, false); }), "missing"));
    const auto named = open({"bee", "cow", "ant"}, true);
    EXPECT_EQ(named->info().classes, 3);
    EXPECT_EQ(named->example(Split::test, 0).label, 2);
    EXPECT_EQ(named->example(Split::test, 1).label, 0);
    EXPECT_EQ(named->readable_example(Split::test, 1)->label, 0);
    EXPECT_EQ(named->picture(Split::test, 1)->label, 0);
    EXPECT_TRUE(has(error_of([&] { (void)open({"bee", "cow"}, true); }), "class 'ant'"));
}

LoaderOptions options_of(const DataSource& source, const std::string& augment) {
    LoaderOptions options;
    options.model.task = "classify";
    options.model.own["patch"] = 4;
    fit_model(options.model, source);
    options.data.augment = augment;
    options.batch = 10;
    return options;
}

TEST(ImageFolder, an_unreadable_picture_is_left_out_named_and_the_same_at_every_start) {
    const Scratch folder;
    for (int i = 0; i < 200; ++i)
        add_picture(folder / (i % 2 ? "odd" : "even") / (std::to_string(i) + ".pgm"), i);
    put(folder / "odd/77.pgm", "P5 8 8 255\n short");
    for (const std::string augment : {"none", "recipe-c"}) {
        std::vector<at::Tensor> first;
        for (int start = 0; start < 2; ++start) {
            WarningsOfTest warnings;
            const std::shared_ptr<const DataSource> source =
                open_source(spec_of(folder, "&holdout=0"), 1);
            Loader loader(source, options_of(*source, augment));
            for (int64_t step = 0; step < 20; ++step) {  // one epoch
                const Batch batch = loader.next(step);
                EXPECT_EQ(batch.input.size(0), 10);
                if (start == 0)
                    first.push_back(batch.input);
                else
                    EXPECT_TRUE(batch.input.equal(first[static_cast<size_t>(step)]));
            }
            if (start == 0 && augment == "none") {  // a text is reported once in a process
                EXPECT_TRUE(has(warnings.all, "left out")) << warnings.all;
                EXPECT_TRUE(has(warnings.all, "77.pgm")) << warnings.all;
            }
        }
    }
    const auto all = open_source(spec_of(folder, "&split=all"), 1);
    const ModelConfig model = options_of(*all, "none").model;
    EXPECT_EQ(load_batch(*all, model, {Split::test, 0, 200}).input.size(0), 199);
    int64_t bad = -1;
    for (int64_t i = 0; i < 200; ++i)
        if (!all->readable_example(Split::test, i)) bad = i;
    EXPECT_FALSE(load_batch(*all, model, {Split::test, bad, 1}).input.defined());
    EXPECT_TRUE(has(error_of([&] { (void)all->example(Split::test, bad); }), "77.pgm"));
}

TEST(ImageFolder, more_than_one_percent_is_an_error_before_the_first_step) {
    const Scratch folder;
    for (int i = 0; i < 200; ++i) add_picture(folder / (std::to_string(i) + ".pgm"), i);
    for (const int i : {3, 40, 170}) put(folder / (std::to_string(i) + ".pgm"), "no picture");
    const std::shared_ptr<const DataSource> source = open_source(spec_of(folder), 1);
    LoaderOptions options;
    fit_model(options.model, *source);
    const std::string words = error_of([&] { const Loader loader(source, options); });
    EXPECT_TRUE(has(words, "3 of 200 pictures")) << words;
    EXPECT_TRUE(has(words, ".pgm")) << words;
}

// Of a large folder only a part is looked at before the first step.
TEST(ImageFolder, those_that_a_large_folder_hides_end_it_when_they_are_met) {
    const Scratch folder;
    for (int i = 0; i < 1500; ++i) {
        const std::string name = fmt::format("{:04}.pgm", i);
        if (i % 40 == 1)
            put(folder / name, "no picture");
        else
            add_picture(folder / name, i % 256);
    }
    WarningsOfTest warnings;
    const std::shared_ptr<const DataSource> source = open_source(spec_of(folder, "&holdout=0"), 1);
    const std::string words = error_of([&] { source->check_readable(); });
    EXPECT_TRUE(has(words, "cannot be read, more than the 1 %")) << words;
    int64_t met = 0;
    const auto fresh = open_source(spec_of(folder, "&holdout=0"), 1);
    const std::string later = error_of([&] {
        for (; met < 1500; ++met) (void)fresh->readable_example(Split::train, met);
    });
    EXPECT_TRUE(has(later, "16 of 1500")) << later;
    EXPECT_EQ(met, 601);
}

}  // namespace
}  // namespace aft

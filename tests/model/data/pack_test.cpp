// data pack: shards hold what the folder holds, and training on them is the same.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/check.h"
#include "core/files.h"
#include "model/data/loader.h"
#include "model/jobs/pack.h"
#include "model/jobs/pack_names.h"
#include "tests/model/scratch.h"
#include "tests/model/warnings_of_test.h"

namespace aft {
namespace {

// A picture of `side` x `side` whose values run.
void add_running(const fs::path& path, int first, int side = 12) {
    fs::create_directories(path.parent_path());
    std::string pixels;
    for (int i = 0; i < side * side; ++i)
        pixels += static_cast<char>((first * 7 + i * (first + 1)) % 251);
    put(path, fmt::format("P5 {} {} 255\n", side, side) + pixels);
}

PackResult pack_folder(const Scratch& from, const fs::path& out, const std::string& options = "") {
    return pack_pictures({.data = "images:" + from.path().string() + options, .out = out.string()},
                         {});
}

LoaderOptions pack_loading(const DataSource& source, const std::string& augment) {
    LoaderOptions options;
    options.model.task = source.info().classes > 0 ? "classify" : "image";
    if (source.info().classes > 0) options.model.own["patch"] = 4;
    fit_model(options.model, source);
    options.data.augment = augment;
    options.batch = 4;
    return options;
}

void expect_same_batches(const std::shared_ptr<const DataSource>& a,
                         const std::shared_ptr<const DataSource>& b, const std::string& augment) {
    Loader first(a, pack_loading(*a, augment)), second(b, pack_loading(*b, augment));
    for (int64_t step = 0; step < 12; ++step) {
        const Batch x = first.next(step), y = second.next(step);
        EXPECT_TRUE(x.input.equal(y.input)) << augment << " step " << step;
        EXPECT_TRUE(x.target.equal(y.target)) << augment << " step " << step;
    }
    // A run that resumes at step 7 has the batch of step 7.
    Loader resumed(b, pack_loading(*b, augment));
    EXPECT_TRUE(resumed.next(7).input.equal(Loader(a, pack_loading(*a, augment)).next(7).input));
}

void expect_same_pictures(const std::string& folder, const std::string& shards) {
    const std::shared_ptr<const DataSource> a = open_source(folder + "?size=8&crop=0.9", 1);
    const std::shared_ptr<const DataSource> b = open_source(shards + "?size=8&crop=0.9", 1);
    EXPECT_EQ(a->info().class_names, b->info().class_names);
    EXPECT_EQ(a->info().classes, b->info().classes);
    for (const Split split : {Split::train, Split::validation, Split::test}) {
        ASSERT_EQ(a->size(split), b->size(split)) << split_name(split);
        for (int64_t i = 0; i < a->size(split); ++i) {
            const Example x = a->example(split, i), y = b->example(split, i);
            EXPECT_EQ(x.values, y.values) << split_name(split) << " " << i;
            EXPECT_EQ(x.label, y.label) << split_name(split) << " " << i;
        }
    }
    expect_same_batches(a, b, "none");
    if (a->info().classes > 0) expect_same_batches(a, b, "recipe-c");
}

TEST(Pack, parts_classes_and_batches_are_those_of_the_folder) {
    const Scratch from, out;
    int number = 0;
    for (const std::string part : {"train", "val", "test"})
        for (const std::string name : {"10", "2", "owl é"})
            for (int i = 0; i < 5; ++i)
                add_running(from / part / name / fmt::format("a.b {}.PGM", i), ++number);
    const PackResult made = pack_folder(from, out / "set-train-%03d.tar");
    EXPECT_EQ(made.data, "shards:" + out.path().string());
    ASSERT_EQ(made.parts.size(), 3U);
    EXPECT_EQ(made.parts[1].pattern, (out / "set-val-*.tar").string());
    EXPECT_EQ(made.parts[2].examples, 15);
    EXPECT_EQ(made.classes, 3);
    EXPECT_TRUE(fs::exists(out / "set-test-000.tar"));
    EXPECT_EQ(out.entries(), 4) << "three shards and index.json";
    expect_same_pictures("images:" + from.path().string(), made.data);
    const std::string test = "shards:" + made.parts[2].pattern + "?split=all&size=8";
    EXPECT_EQ(open_source(test, 1)->info().class_names.size(), 3U);
}

TEST(Pack, a_folder_without_parts_keeps_its_share_and_one_without_classes_has_none) {
    for (const bool has_classes : {true, false}) {
        const Scratch from, out;
        for (int i = 0; i < 40; ++i)
            add_running(has_classes ? from / (i % 3 ? "b" : "a") / fmt::format("{}.pgm", i)
                                    : from / fmt::format("{}.pgm", i),
                        i);
        const PackResult made = pack_folder(from, out / "train-*.tar");
        EXPECT_EQ(made.classes, has_classes ? 2 : 0);
        EXPECT_EQ(made.parts.size(), 2U);
        expect_same_pictures("images:" + from.path().string(), made.data);
    }
}

// Larger than a shard: the order of the shards is that of the pictures.
TEST(Pack, shards_are_at_most_as_large_as_asked_for) {
    const Scratch from, out;
    for (int i = 0; i < 11; ++i)
        add_running(from / (i % 2 ? "b" : "a") / fmt::format("{:02}.pgm", i), i, 560);
    const PackResult made = pack_pictures({.data = "images:" + from.path().string() + "?holdout=0",
                                           .out = (out / "%02d.tar").string(),
                                           .shard_mb = 1},
                                          {});
    ASSERT_EQ(made.parts.size(), 1U);
    EXPECT_EQ(made.parts[0].shards, 4) << "three of 0.3 MiB each";
    for (const auto& entry : fs::directory_iterator(out.path()))
        EXPECT_LE(fs::file_size(entry.path()), 1U << 20) << entry.path();
    const auto a = open_source("images:" + from.path().string() + "?holdout=0&size=8", 1);
    const auto b = open_source("shards:" + (out / "*.tar").string() + "?holdout=0&size=8", 1);
    ASSERT_EQ(b->size(Split::train), 11);
    for (int64_t i = 0; i < 11; ++i)
        EXPECT_EQ(a->example(Split::train, i).values, b->example(Split::train, i).values);
    // A cut shard keeps its neighbours' places: index.json knows how many it had.
    fs::resize_file(out / "01.tar", 400000);
    WarningsOfTest warnings;
    const std::string words = error_of(
        [&] { (void)open_source("shards:" + (out / "*.tar").string() + "?holdout=0&size=8", 1); });
    EXPECT_TRUE(has(words, "2 of 11 pictures cannot be read")) << words;
}

TEST(Pack, the_same_seed_gives_the_same_bytes_and_another_order) {
    const Scratch from, out;
    for (int i = 0; i < 30; ++i) add_running(from / fmt::format("c/{:02}.pgm", i), i);
    const auto packed = [&](const std::string& name, std::optional<int64_t> seed) {
        fs::create_directory(out / name);
        (void)pack_pictures({.data = "images:" + from.path().string() + "?holdout=0",
                             .out = (out / name / "%05d.tar").string(),
                             .seed = seed},
                            {});
        return read_file(out / name / "00000.tar");
    };
    const std::string sorted = packed("sorted", {}), one = packed("one", 1);
    EXPECT_EQ(one, packed("again", 1));
    EXPECT_NE(one, sorted);
    EXPECT_NE(one, packed("two", 2));
    const auto values = [&](const std::string& name) {
        const auto source = open_source("shards:" + (out / name).string() + "?size=12&gray=1", 1);
        std::vector<std::vector<uint8_t>> all;
        for (int64_t i = 0; i < source->size(Split::train); ++i)
            all.push_back(source->example(Split::train, i).values);
        return all;
    };
    auto a = values("sorted"), b = values("one");
    EXPECT_NE(a, b);
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    EXPECT_EQ(a, b);
}

TEST(Pack, nothing_is_replaced_without_force_and_nothing_old_is_left_with_it) {
    const Scratch from, out;
    for (int i = 0; i < 8; ++i) add_running(from / fmt::format("{}.pgm", i), i, 560);
    PackRequest request{.data = "images:" + from.path().string() + "?holdout=0",
                        .out = (out / "a-%05d.tar").string(),
                        .shard_mb = 1};
    EXPECT_EQ(pack_pictures(request, {}).parts[0].shards, 3);
    put(out / "a-notes.tar", "not ours");
    const std::string before = read_file(out / "a-00000.tar");
    fs::remove(from / "0.pgm");
    EXPECT_TRUE(has(error_of([&] { (void)pack_pictures(request, {}); }), "--force"));
    EXPECT_EQ(read_file(out / "a-00000.tar"), before);
    request.force = true;
    request.shard_mb = 8;
    EXPECT_EQ(pack_pictures(request, {}).parts[0].shards, 1);
    EXPECT_EQ(out.entries(), 3) << "a shard, index.json, notes";
    EXPECT_EQ(open_source("shards:" + out.path().string(), 1)->size(Split::train) +
                  open_source("shards:" + out.path().string(), 1)->size(Split::validation),
              7);
    put(out / "index.json", "{}");
    EXPECT_TRUE(has(error_of([&] { (void)pack_pictures(request, {}); }), "not of this program"));
}

TEST(Pack, a_stop_leaves_whole_shards_and_no_index) {
    const Scratch from, out;
    for (int i = 0; i < 8; ++i) add_running(from / fmt::format("{}.pgm", i), i, 560);
    std::stop_source stop;
    JobControl control;
    control.stop = stop.get_token();
    control.report = [&](const Progress& progress) {
        if (progress.done == 5) stop.request_stop();
    };
    EXPECT_THROW((void)pack_pictures({.data = "images:" + from.path().string() + "?holdout=0",
                                      .out = (out / "%05d.tar").string(),
                                      .shard_mb = 1},
                                     control),
                 Interrupted);
    EXPECT_EQ(out.entries(), 1) << "the first shard";
    EXPECT_EQ(
        open_source("shards:" + (out / "*.tar").string() + "?holdout=0", 1)->size(Split::train), 3);
}

TEST(Pack, nonsense_is_refused_before_anything_is_written) {
    const Scratch from, out;
    for (int i = 0; i < 20; ++i) add_running(from / fmt::format("{}.pgm", i), i, 300);
    const std::string data = "images:" + from.path().string();
    const auto words = [&](const std::string& spec, const std::string& name, int64_t mb = 256) {
        return error_of([&] {
            (void)pack_pictures({.data = spec, .out = (out / name).string(), .shard_mb = mb}, {});
        });
    };
    for (const std::string name :
         {"a.tar", "a-%05d", "a-%05d.zip", "a-%5d.tar", "a-%s.tar", "a-%.tar", "a-%05d-%05d.tar",
          "a-*-*.tar", "a-?-*.tar", "*/a-%05d.tar"})
        EXPECT_TRUE(has(words(data, name), "-o '")) << name;
    EXPECT_TRUE(has(words(data, "a-%05d.tar"), "no 'train'")) << "it has two parts";
    EXPECT_TRUE(has(words("mirror?size=16", "a-%05d.tar"), "allowed: images"));
    EXPECT_TRUE(has(words("images", "a-%05d.tar"), "images:DIR"));
    EXPECT_TRUE(has(words(data + "?wobble=1", "a-%05d.tar"), "wobble"));
    EXPECT_TRUE(has(words(data + "/none", "a-%05d.tar"), "none"));
    const Scratch large;  // files with holes: none of it is read
    for (int i = 0; i < 12; ++i) {
        const fs::path file = large / fmt::format("{}.pgm", i);
        put(file, "P5");
        fs::resize_file(file, 2 << 20);
    }
    const std::string many = "images:" + large.path().string() + "?holdout=0";
    EXPECT_TRUE(has(words(many, "a-%d.tar", 1), "12 shards do not fit"));
    fs::resize_file(large / "3.pgm", (256 << 20) + 1);
    EXPECT_TRUE(has(words(many, "a-%05d.tar"), "3.pgm"));
    fs::create_directory(from / "bad\nname");
    add_running(from / "bad\nname" / "x.pgm", 1);
    EXPECT_TRUE(has(words(data, "train-%05d.tar"), "bad\\nname"));
    EXPECT_EQ(out.entries(), 0);
}

TEST(Pack, names_of_shards) {
    const ShardPattern pattern = parse_shard_pattern("out/a-train-%03d-x.tar");
    EXPECT_EQ(pattern.folder, fs::path("out"));
    EXPECT_EQ(pattern.file(7), "a-train-007-x.tar");
    EXPECT_EQ(pattern.file(1234), "a-train-1234-x.tar");
    EXPECT_EQ(pattern.most_shards(), 1000);
    EXPECT_EQ(pattern_of_part(pattern, Split::validation).file(1), "a-val-001-x.tar");
    EXPECT_EQ(pattern_of_part(parse_shard_pattern("%d-train.tar"), Split::test).file(3),
              "3-test.tar");
    EXPECT_TRUE(pattern.fits("a-train-12-x.tar"));
    EXPECT_FALSE(pattern.fits("a-train--x.tar"));
    EXPECT_FALSE(pattern.fits("a-train-1b-x.tar"));
    EXPECT_FALSE(pattern.fits("a-train-x.tar"));
    EXPECT_EQ(parse_shard_pattern("*.tar").file(2), "00002.tar");
    EXPECT_EQ(parse_shard_pattern("*.tar").folder, fs::path("."));
}

}  // namespace
}  // namespace aft

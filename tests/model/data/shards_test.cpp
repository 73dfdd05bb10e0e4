// Tar shards: what their members mean, and what is left out of them.
#include <gtest/gtest.h>

#include "core/check.h"
#include "model/data/classes.h"
#include "model/data/files/shard_scan.h"
#include "model/data/source.h"
#include "tests/model/data/tar_bytes.h"
#include "tests/model/scratch.h"
#include "tests/model/warnings_of_test.h"

namespace aft {
namespace {

std::string shard_picture(int value) {
    return "P5 8 8 255\n" + std::string(64, static_cast<char>(value));
}

// A picture and its label.
std::string shard_members(const std::string& key, int value, const std::string& label) {
    return tar_bytes({.name = key + ".pgm", .content = shard_picture(value)}) +
           tar_bytes({.name = key + ".cls", .content = label});
}

// `count` good pictures with the labels 0 and 1 in turn.
std::string many_shard_members(int count) {
    std::string bytes;
    for (int i = 0; i < count; ++i)
        bytes += shard_members(fmt::format("{:05}", i), i % 256, std::to_string(i % 2));
    return bytes;
}

std::unique_ptr<DataSource> open_shards(const std::string& pattern,
                                        const std::string& options = "") {
    return open_source("shards:" + pattern + "?size=4&gray=1" + options, 1);
}

std::string open_shards_error(const std::string& pattern, const std::string& options = "") {
    return error_of([&] { (void)open_shards(pattern, options); });
}

TEST(Shards, labels_are_numbers_or_names_in_cls_or_json) {
    const Scratch folder;
    const std::string glob = (folder / "t-*.tar").string();
    const auto json = [](const std::string& key, int value, const std::string& text) {
        return tar_bytes({.name = key + ".pgm", .content = shard_picture(value)}) +
               tar_bytes({.name = key + ".json", .content = text});
    };
    put(folder / "t-0.tar", shard_members("a", 10, "2\n") +
                                json("b", 20, R"({"label": 0, "x": [1]})") +
                                shard_members("sub/c", 30, " 1 ") + tar_end());
    const auto numbers = open_shards(glob, "&holdout=0");
    EXPECT_EQ(numbers->info().classes, 3);
    EXPECT_TRUE(numbers->info().class_names.empty());
    ASSERT_EQ(numbers->size(Split::train), 3);
    for (int64_t i = 0; i < 3; ++i) {
        EXPECT_EQ(numbers->example(Split::train, i).values[0], 10 * (i + 1));
        EXPECT_EQ(numbers->example(Split::train, i).label, (std::vector<int64_t>{2, 0, 1})[i]);
    }
    EXPECT_EQ(open_shards(glob, "&holdout=0&classes=10")->info().classes, 10);
    EXPECT_TRUE(has(open_shards_error(glob, "&classes=2"), "the shards have the class 2"));
    put(folder / "t-1.tar", shard_members("d", 40, "owl") + json("e", 50, R"({"label": "cat"})") +
                                shard_members("f", 60, "cat") + tar_end());
    put(folder / "t-0.tar", shard_members("a", 10, "7") + tar_end());
    const auto names = open_shards(glob, "&holdout=0");
    EXPECT_EQ(names->info().class_names, (std::vector<std::string>{"7", "cat", "owl"}));
    for (int64_t i = 0; i < 4; ++i)
        EXPECT_EQ(names->example(Split::train, i).label, (std::vector<int64_t>{0, 2, 1, 1})[i]);
    EXPECT_TRUE(has(open_shards_error(glob, "&classes=3"), "numbers without names"));
    const auto known =
        with_known_classes(open_shards(glob, "&split=all&holdout=0"),
                           {.class_names = {"owl", "cat", "7"}, .classes_by_name = true});
    EXPECT_EQ(known->example(Split::test, 1).label, 0);
}

TEST(Shards, parts_are_patterns_or_a_share_by_name) {
    const Scratch folder;
    const std::string train = (folder / "train-*.tar").string();
    put(folder / "train-0.tar", many_shard_members(300) + tar_end());
    put(folder / "val-0.tar", shard_members("a", 7, "1") + tar_end());
    put(folder / "test-0.tar", shard_members("a", 8, "0") + shard_members("b", 9, "1") + tar_end());
    const auto alone = open_shards(train);
    EXPECT_EQ(alone->size(Split::train) + alone->size(Split::validation), 300);
    EXPECT_NEAR(static_cast<double>(alone->size(Split::validation)), 30, 25);
    const std::string others =
        "&val=" + (folder / "val-*.tar").string() + "&test=" + (folder / "test-0.tar").string();
    const auto parts = open_shards(train, others);
    EXPECT_EQ(parts->size(Split::train), 300);
    EXPECT_EQ(parts->example(Split::validation, 0).values[0], 7);
    EXPECT_EQ(parts->size(Split::test), 2);
    EXPECT_EQ(open_shards(train, others + "&split=all")->size(Split::test), 303);
    EXPECT_TRUE(has(open_shards_error(train, others + "&holdout=5"), "holdout"));
    EXPECT_TRUE(has(open_shards_error(train, "&val=" + train), "is in two parts"));
    put(folder / "val-0.tar", shard_members("a", 7, "2") + tar_end());
    EXPECT_TRUE(has(open_shards_error(train, others), "class '2', which the training part lacks"));
}

TEST(Shards, pictures_without_labels_have_no_classes) {
    const Scratch folder;
    put(folder / "a.tar", tar_bytes({.name = "d/", .type = '5'}) +
                              tar_bytes({.name = "./d/a.pgm", .content = shard_picture(3)}) +
                              tar_bytes({.name = "d/a.txt", .content = "words"}) +
                              tar_bytes({.name = "d/b.seg.pgm", .content = "not ours"}) +
                              tar_bytes({.name = "d/._c.pgm", .content = "not ours"}) +
                              tar_bytes({.name = "d/e.PGM", .content = shard_picture(5)}) +
                              tar_bytes({.name = "d/e.json", .content = "no json"}) + tar_end());
    const auto source = open_shards((folder / "a.tar").string(), "&holdout=0");
    ASSERT_EQ(source->size(Split::train), 2);
    EXPECT_EQ(source->info().classes, 0);
    EXPECT_EQ(source->example(Split::train, 1).values[0], 5);
    EXPECT_EQ(source->example(Split::train, 1).label, -1);
    EXPECT_EQ(source->picture(Split::train, 0)->image.width, 8);
}

TEST(Shards, long_names_are_read) {
    const Scratch folder;
    const std::string key = "much/" + std::string(300, 'k');
    put(folder / "a.tar", pax_path(key + ".pgm") +
                              tar_bytes({.name = "cut", .content = shard_picture(9)}) +
                              pax_path(key + ".cls") + tar_bytes({.name = "cut", .content = "1"}) +
                              shard_members("b", 2, "0") + tar_end());
    const std::vector<ShardExample> found = scan_shard(folder / "a.tar", -1);
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].name, key + ".pgm");
    EXPECT_EQ(found[0].label, "1");
    const auto source = open_shards((folder / "a.tar").string(), "&holdout=0");
    EXPECT_EQ(source->example(Split::train, 0).values[0], 9);
}

struct BrokenMember {
    std::string bytes, words;
};

// Each beside 400 good ones: left out, named, and the others as they are without it.
TEST(Shards, a_broken_member_is_left_out_and_named) {
    const auto file = [](const std::string& name, const std::string& content) {
        return tar_bytes({.name = name, .content = content});
    };
    const std::string cls = file("x.cls", "1"), good = file("x.pgm", shard_picture(1));
    const std::vector<BrokenMember> cases = {
        {file("x.pgm", "no picture") + cls, "x.pgm"},
        {file("x.pgm", "") + cls, "x.pgm"},
        {file("x.pgm", "P5 60000 60000 255\n") + cls, "x.pgm"},
        {good, "it has no label"},
        {good + file("x.cls", ""), "x.cls' in"},
        {good + file("x.cls", "a\x1b[2Jb"), "expected a number or the name of a class"},
        {good + file("x.cls", std::string(300, '1')), "300 bytes"},
        {good + file("x.cls", "99999999999999999999"), "holds the class"},
        {good + file("x.json", "{\"label\": [1]}"), "its label is an array"},
        {good + file("x.json", "{\"label\": 1"), "x.json"},
        {cls, "it has no picture beside it"},
        {good + file("x.ppm", shard_picture(1)) + cls, "second picture"},
        {file("../x.pgm", shard_picture(1)) + file("../x.cls", "1"), "'..'"},
        {file("/etc/x.pgm", shard_picture(1)) + file("/etc/x.cls", "1"), "absolute"},
        {file("x\n.pgm", shard_picture(1)) + file("x\n.cls", "1"), "x\\n.pgm"},
        {tar_bytes({.name = "x.pgm", .type = '2', .link = "/etc/passwd"}) + cls, "symbolic link"},
        {tar_bytes({.name = "x.pgm", .type = '1', .link = "00000.pgm"}) + cls, "link"},
        {tar_bytes({.name = "x.pgm", .type = '6'}) + cls, "it is no file"},
    };
    for (const BrokenMember& broken : cases) {
        const Scratch folder;
        put(folder / "a.tar", broken.bytes + many_shard_members(400) + tar_end());
        WarningsOfTest warnings;
        const auto source = open_shards((folder / "a.tar").string(), "&holdout=0");
        ASSERT_EQ(source->size(Split::train), 401) << broken.words;
        source->check_readable();
        EXPECT_FALSE(source->readable_example(Split::train, 0)) << broken.words;
        EXPECT_TRUE(has(warnings.all, "left out: ")) << broken.words;
        EXPECT_TRUE(has(warnings.all, broken.words)) << warnings.all;
        EXPECT_EQ(source->info().classes, 2);
        for (const int64_t i : {1, 200, 400}) {
            EXPECT_EQ(source->example(Split::train, i).values[0], (i - 1) % 256) << broken.words;
            EXPECT_EQ(source->example(Split::train, i).label, (i - 1) % 2) << broken.words;
        }
    }
}

TEST(Shards, more_than_one_percent_known_to_be_broken_is_an_error_at_once) {
    const Scratch folder;
    std::string bad;
    for (int i = 0; i < 5; ++i)
        bad += tar_bytes({.name = fmt::format("bad{}.pgm", i), .content = shard_picture(i)});
    put(folder / "a.tar", bad + many_shard_members(400) + tar_end());
    const std::string words = open_shards_error((folder / "a.tar").string());
    EXPECT_TRUE(has(words, "5 of 405 pictures cannot be read")) << words;
    EXPECT_TRUE(has(words, "it has no label")) << words;
}

TEST(Shards, a_shard_that_is_cut_loses_its_end_and_says_so) {
    const Scratch folder;
    const std::string whole = many_shard_members(400) + tar_end(),
                      one = shard_members("00000", 0, "0");
    const size_t at = whole.size() - 1024 - one.size() + 512 + 20;  // in the last picture
    put(folder / "a.tar", whole.substr(0, at));
    WarningsOfTest warnings;
    const auto source = open_shards((folder / "a.tar").string(), "&holdout=0");
    EXPECT_EQ(source->size(Split::train), 400);
    EXPECT_FALSE(source->readable_example(Split::train, 399));
    EXPECT_TRUE(has(warnings.all, "it is cut: 20 of 75 bytes are there")) << warnings.all;
    EXPECT_EQ(source->example(Split::train, 398).values[0], 398 % 256);
    // Between two members, where nothing but the missing mark shows it.
    put(folder / "b.tar", whole.substr(0, 200 * one.size()));
    EXPECT_EQ(open_shards((folder / "b.tar").string(), "&holdout=0")->size(Split::train), 200);
    EXPECT_TRUE(has(warnings.all, "b.tar' has no mark at its end")) << warnings.all;
    // In a header, and a header that is not one.
    put(folder / "c.tar", whole.substr(0, 200 * one.size() + 100));
    std::string damaged = whole;
    damaged.replace(200 * one.size() + 3, 4, "@@@@");
    put(folder / "d.tar", damaged);
    for (const std::string name : {"c.tar", "d.tar"}) {
        const std::vector<ShardExample> found = scan_shard(folder / name, -1);
        ASSERT_EQ(found.size(), 201U) << name;
        EXPECT_TRUE(has(found.back().problem, fmt::format("from byte {} on", 200 * one.size())))
            << found.back().problem;
        EXPECT_EQ(scan_shard(folder / name, 400).size(), 400U) << "each that is lost is counted";
    }
}

TEST(Shards, a_shard_that_becomes_shorter_is_an_error_of_its_picture) {
    const Scratch folder;
    put(folder / "a.tar", many_shard_members(3) + tar_end());
    const auto source = open_shards((folder / "a.tar").string(), "&holdout=0");
    put(folder / "a.tar", "");
    const std::string words = error_of([&] { (void)source->example(Split::train, 1); });
    EXPECT_TRUE(has(words, "a.tar")) << words;
}

TEST(Shards, what_is_no_shard_is_refused) {
    const Scratch folder;
    const auto path = [&](const char* name) { return (folder / name).string(); };
    put(folder / "a.tar", many_shard_members(10) + tar_end());
    put(folder / "packed.tar.gz", std::string("\x1f\x8b\x08\0\0\0\0\0", 8) + "rest");
    put(folder / "packed.tar.zst", std::string("\x28\xb5\x2f\xfd rest", 9));
    put(folder / "text.tar", "no tar file");
    put(folder / "nothing.tar", "");
    put(folder / "blank.tar", tar_end());
    fs::create_directory(folder / "folder");
    fs::create_directory(folder / "folder/x.tar");
    EXPECT_TRUE(has(open_shards_error(path("packed.tar.gz")), "is compressed (gzip)"));
    EXPECT_TRUE(has(open_shards_error(path("packed.tar.zst")), "is compressed (zstd)"));
    EXPECT_TRUE(has(open_shards_error(path("text.tar")), "text.tar' is not a tar file"));
    EXPECT_TRUE(has(open_shards_error(path("nothing.tar")), "nothing.tar' is not a tar file"));
    EXPECT_TRUE(has(open_shards_error(path("blank.tar")), "no picture"));
    EXPECT_TRUE(has(open_shards_error(path("none-*.tar")), "no file fits"));
    EXPECT_TRUE(has(open_shards_error(path("a-{000..010}.tar")), "braces"));
    EXPECT_TRUE(has(open_shards_error(path("folder")), "has no index.json"));
    EXPECT_TRUE(has(open_shards_error(path("folder/*.tar")), "it is a folder"));
    EXPECT_TRUE(has(error_of([] { (void)open_source("shards", 1); }), "shards:GLOB"));
}

TEST(Shards, index_json_names_the_classes_and_counts_the_examples) {
    const Scratch folder;
    const std::string pattern = (folder / "a.tar").string(),
                      shards = R"("shards": [)"
                               R"({"file": "a.tar", "part": "train", "examples": 4}]})";
    put(folder / "a.tar", shard_members("a", 1, "1") + shard_members("b", 2, "7") +
                              shard_members("c", 3, "0") + shard_members("d", 4, "2") + tar_end());
    // Numbers count although they are names, too.
    put(folder / "index.json",
        R"({"afterimage_shards": 1, "classes": ["1", "10", "2"], )" + shards);
    EXPECT_TRUE(has(open_shards_error(pattern), "class '7' is none")) << "1 of 4 is too much";
    put(folder / "a.tar", shard_members("a", 1, "1") + shard_members("b", 2, "2") +
                              shard_members("c", 3, "0") + shard_members("d", 4, "2") + tar_end());
    for (const std::string& where : {pattern, folder.path().string()}) {
        const auto source = open_shards(where, where == pattern ? "&holdout=0" : "");
        EXPECT_EQ(source->info().class_names, (std::vector<std::string>{"1", "10", "2"}));
        EXPECT_EQ(source->example(Split::train, 0).label, 1);
        EXPECT_EQ(source->example(Split::train, 3).label, 2);
    }
    EXPECT_TRUE(has(open_shards_error(folder.path().string(), "&holdout=5"), "holdout"));
    EXPECT_TRUE(has(open_shards_error(folder.path().string(), "&val=x.tar"), "index.json"));
    put(folder / "a.tar", many_shard_members(3) + tar_end());
    EXPECT_TRUE(has(open_shards_error(pattern), "example 4 of 4 is missing"));
    for (const std::string text :
         {R"({"afterimage_shards": 2, "classes": [], "shards": []})",
          R"({"afterimage_shards": 1, "classes": {}, "shards": []})",
          R"({"afterimage_shards": 1, "classes": ["a", "a"], "shards": []})",
          R"({"afterimage_shards": 1, "classes": [1], "shards": []})",
          R"({"afterimage_shards": 1, "classes": [], "shards": [{"file": "../a.tar"}]})",
          R"({"afterimage_shards": 1, "classes": [], "shards": [1]})",
          R"({"afterimage_shards": 1, "classes": [], "shards": [)"
          R"({"file": "a.tar", "part": "lunch", "examples": 1}]})",
          R"({"afterimage_shards": 1, "classes": [], "shards": [)"
          R"({"file": "a.tar", "part": "train", "examples": 1e300}]})",
          R"({"afterimage_shards": 1)"}) {
        put(folder / "index.json", text);
        EXPECT_TRUE(has(open_shards_error(pattern), "index.json")) << text;
    }
    put(folder / "index.json", R"({"shardlist": []})");
    EXPECT_EQ(open_shards(pattern, "&holdout=0")->size(Split::train), 3) << "another program's";
}

}  // namespace
}  // namespace aft

#include <gtest/gtest.h>

#include "core/check.h"
#include "core/files.h"
#include "model/data/source.h"
#include "tests/model/scratch.h"

namespace aft {
namespace {

std::string open_error(const std::string& spec) {
    return error_of([&] { (void)open_source(spec, 1); });
}

TEST(DataSpec, parts_are_told_apart) {
    const Spec spec = parse_spec("images:/a/b c?size=16&split=test");
    EXPECT_EQ(spec.room, "images");
    EXPECT_EQ(spec.path, "/a/b c");
    EXPECT_EQ(spec.options.at("size"), "16");
    EXPECT_EQ(spec.options.at("split"), "test");
    EXPECT_EQ(parse_spec("text:/what?/a?length=5").path, "/what?/a");
    EXPECT_EQ(parse_spec("text:/is this it?.txt").path, "/is this it?.txt");
    EXPECT_EQ(parse_spec("text:C:/a").path, "C:/a");
    EXPECT_EQ(parse_spec("mirror").options.size(), 0U);
    EXPECT_EQ(parse_spec("mirror?").options.size(), 0U);
}

struct Nonsense {
    std::string spec;
    std::vector<std::string> words;  // all of them must be in the message
};

TEST(DataSpec, nonsense_is_a_usage_error_that_names_what_is_allowed) {
    const std::vector<Nonsense> cases = {
        {"", {"no data given"}},
        {"miror", {"miror", "mirror", "tiles", "cifar10"}},
        {"mirror:/tmp", {"mirror:/tmp", "takes no path"}},
        {"cifar10", {"cifar10", "folder", "cifar10:DIR"}},
        {"text", {"text:FILE"}},
        {"shards", {"pattern", "shards:GLOB"}},
        {"mirror?size=0", {"size", "'0'", "from 2 to 512"}},
        {"mirror?size=15", {"size", "15", "even"}},
        {"mirror?size=16x", {"size", "16x"}},
        {"mirror?size=99999999999999999999", {"size", "99999999999999999999"}},
        {"mirror?levels=257", {"levels", "257", "256"}},
        {"mirror?siez=16", {"siez", "did you mean 'size'"}},
        {"mirror?period=4", {"period", "allowed", "shapes"}},
        {"mirror?size", {"size", "key=value"}},
        {"mirror?=4", {"=4", "key=value"}},
        {"mirror?size=16&size=8", {"size", "twice"}},
        {"tiles?period=17", {"period", "17", "from 1 to 16"}},
        {"shapes?gray=maybe", {"gray", "maybe", "0, 1"}},
        {"mirror?split=all", {"all", "train, validation, test"}},
    };
    for (const Nonsense& nonsense : cases) {
        try {
            (void)open_source(nonsense.spec, 1);
            ADD_FAILURE() << nonsense.spec << " was taken";
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::usage) << error.what();
            for (const std::string& word : nonsense.words)
                EXPECT_TRUE(has(error.what(), word)) << nonsense.spec << ": " << error.what();
        }
    }
}

TEST(DataSpec, every_room_lists_its_options_and_refuses_others) {
    const Scratch folder;
    write_atomically(folder / "text", std::string(1000, 'a'));
    for (const SourceRoom& room : sources()) {
        EXPECT_FALSE(room.info.sentence.empty());
        EXPECT_FALSE(room.options.empty());
        Spec spec = parse_spec(room.info.name + "?nonsense=1");
        const std::string message = error_of([&] { (void)room.open(spec, 1); });
        for (const std::string& line : room.options)
            EXPECT_TRUE(has(message, line.substr(0, line.find('=')))) << message;
    }
}

TEST(DataSpec, missing_files_and_folders_are_named) {
    for (const std::string name : {"cifar10", "mnist", "images", "shards", "text"}) {
        const std::string message = open_error(name + ":/no/such/place");
        EXPECT_TRUE(has(message, "/no/such/place")) << message;
    }
    const Scratch folder;
    for (const std::string name : {"cifar10", "mnist", "images"}) {
        const std::string message = open_error(name + ":" + folder.path().string());
        EXPECT_TRUE(has(message, folder.path().string())) << message;
    }
    EXPECT_TRUE(has(open_error("cifar10:" + folder.path().string()), "data_batch_1.bin"));
    EXPECT_TRUE(has(open_error("mnist:" + folder.path().string()), "train-images-idx3-ubyte"));
}

}  // namespace
}  // namespace aft

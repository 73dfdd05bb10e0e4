// Pictures and texts that panels ask a session for: loaded once, with the part they are of, or with
// words that say why not.
#include <gtest/gtest.h>

#include "core/images/image.h"
#include "tests/session/session_fixture.h"
#include "tests/source_file.h"

namespace aft {
namespace {

TEST(SessionItems, ExamplesAndPicturesAreLoaded) {
    const Scratch scratch;
    TestSession session(new_run(scratch / "run"));
    ASSERT_TRUE(wait_state(session, RunState::ready));
    std::shared_ptr<const DataItem> item;
    ASSERT_TRUE(
        wait_for([&] { return (item = session.items().example("validation", 3)) != nullptr; }));
    EXPECT_EQ(item->tokens.size(), 64u);
    EXPECT_NE(item->caption.find("validation 3"), std::string::npos);
    EXPECT_EQ(item->split, "validation");
    EXPECT_EQ(session.items().example("validation", 3), item);

    write_png(scratch / "white.png", {20, 10, 3, std::vector<uint8_t>(600, 255)});
    ASSERT_TRUE(wait_for(
        [&] { return (item = session.items().picture(scratch / "white.png")) != nullptr; }));
    EXPECT_EQ(item->tokens, std::vector<uint8_t>(64, 3));
    EXPECT_EQ(item->split, "");

    EXPECT_EQ(session.items().picture(scratch / "missing.png"), nullptr);
    EXPECT_TRUE(wait_for(
        [&] { return session.status().message.find("missing.png") != std::string::npos; }));
    EXPECT_EQ(session.items().example("tomorrow", 0), nullptr);
    EXPECT_TRUE(
        wait_for([&] { return session.status().message.find("tomorrow") != std::string::npos; }));
    ItemError error;
    EXPECT_EQ(session.items().example("tomorrow", 0, &error), nullptr);
    EXPECT_NE(error.words.find("tomorrow"), std::string::npos);
    session.items().reload();
    EXPECT_EQ(session.items().example("tomorrow", 0, &error), nullptr);
    EXPECT_TRUE(error.words.empty()) << "it is read again";
}

// A folder of pictures has no test part: that is another answer than no data.
TEST(SessionItems, AnItemSaysItsPartAndAnErrorWhetherOnlyThePartIsMissing) {
    const Scratch scratch;
    fs::create_directories(scratch / "photos");
    for (const char* name : {"a.png", "b.png", "c.png"})
        write_png(scratch / "photos" / name, {8, 8, 1, std::vector<uint8_t>(64, 128)});
    TestSession session(open_path(source_file("assets/demo/mirror.safetensors").string()));
    ASSERT_TRUE(wait_state(session, RunState::ready));
    const auto take_from = [&](const fs::path& folder) {
        const std::string spec = "images:" + folder.string() + "?size=16&gray=1&levels=16";
        session.run().set("data.source", spec);
        ASSERT_TRUE(wait_for([&] { return session.status().config.data.source == spec; }));
        session.items().reload();
    };
    ItemError error;
    const auto fails = [&](const std::string& split) {
        return wait_for([&] {
            return session.items().example(split, 0, &error) == nullptr && !error.words.empty();
        });
    };
    take_from(scratch / "photos");
    std::shared_ptr<const DataItem> item;
    ASSERT_TRUE(wait_for([&] { return (item = session.items().example("", 0)) != nullptr; }));
    EXPECT_EQ(item->split, "validation");
    EXPECT_EQ(item->caption, "validation 0");
    ASSERT_TRUE(fails("test"));
    EXPECT_TRUE(error.is_part_empty) << error.words;
    take_from(scratch / "nowhere");
    ASSERT_TRUE(fails("test"));
    EXPECT_FALSE(error.is_part_empty) << error.words;
}

// A panel asks every frame until it has its item, also while it is being loaded.
TEST(SessionItems, AnItemIsLoadedOnce) {
    const Scratch scratch;
    TestSession session(new_run(scratch / "run"));
    ASSERT_TRUE(wait_state(session, RunState::ready));
    std::vector<std::shared_ptr<const DataItem>> items;
    for (int64_t index = 0; index < 50; ++index) {
        std::shared_ptr<const DataItem> item;
        ASSERT_TRUE(wait_for([&] {
            static_cast<void>(session.items().example("validation", index));
            return (item = session.items().example("validation", index)) != nullptr;
        })) << index;
        items.push_back(item);
    }
    for (int64_t index = 0; index < 50; ++index)
        EXPECT_EQ(session.items().example("validation", index), items[static_cast<size_t>(index)]);
}

}  // namespace
}  // namespace aft

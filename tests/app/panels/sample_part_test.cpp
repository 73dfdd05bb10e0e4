// The part of the data that a sample is of: not guessed while it is unknown, and distinguished from
// data that are not there.
#include "app/frame/data_location.h"
#include "core/images/image.h"
#include "tests/app/stage_fixture.h"

namespace aft::app {
namespace {

namespace fs = std::filesystem;

class SamplePart : public BareTest {
  protected:
    // The shipped mirror model in Attention, with data in a folder that is not there yet.
    void SetUp() override {
        open_mirror();
        const auto levels = std::to_string(ui().status.config.model.levels);
        session().run().set("data.source",
                            "images:" + pictures().string() + "?size=16&gray=1&levels=" + levels);
        ASSERT_TRUE(until([&] { return ui().status.config.data.source.starts_with("images"); }));
        ui().selection.image = {};
        run("view.workspace_attention\nframes 3\n");
        ASSERT_TRUE(until([&] { return is_there("attention/main/banner"); }));
    }
    [[nodiscard]] fs::path pictures() const { return scratch_ / "pictures"; }
    void put_pictures() {
        fs::create_directories(pictures());
        for (const char* name : {"a.png", "b.png", "c.png", "d.png"})
            write_png(pictures() / name, {16, 16, 1, std::vector<uint8_t>(256, 200)});
        run("file.reread_sample\nframes 3\n");
    }
    std::string banner() { return value_of("attention/main/banner"); }
};

TEST_F(SamplePart, IsNotGuessedWhileItIsUnknown) {
    EXPECT_EQ(ui().selection.image.split, "");
    run("click \"attention/main/choose_sample\"\nframes 3\n");
    ASSERT_TRUE(is_there("split"));
    EXPECT_EQ(value_of("split"), "");
    for (const char* part : {"split=train", "split=validation", "split=test"})
        EXPECT_EQ(value_of(part), "off") << part;
    put_pictures();
    ASSERT_TRUE(until([&] { return ui().selection.image.item != nullptr; }));
    run("click \"attention/main/choose_sample\"\nframes 3\n");
    if (!is_there("split")) run("click \"attention/main/choose_sample\"\nframes 3\n");
    EXPECT_EQ(value_of("split"), "validation");
    EXPECT_EQ(value_of("split=validation"), "on");
}

TEST_F(SamplePart, ThatIsMissingIsToldFromDataThatAre) {
    EXPECT_TRUE(banner().starts_with("The data of this model are not here")) << banner();
    put_pictures();
    ASSERT_TRUE(until([&] { return ui().selection.image.item != nullptr; }));
    run("click \"attention/main/choose_sample\"\nframes 3\n");
    run("click \"split=test\"\nframes 3\n");
    ASSERT_TRUE(until([&] { return is_there("attention/main/banner"); }));
    EXPECT_TRUE(banner().starts_with("There is no such sample")) << banner();
    EXPECT_NE(banner().find("test part"), std::string::npos) << banner();
    fs::remove_all(pictures());
    run("file.reread_sample\nframes 3\n");
    // Read already, the source stays open; another place is read anew.
    session().run().set("data.source",
                        "images:" + (scratch_ / "nowhere").string() + "?size=16&gray=1&levels=4");
    EXPECT_TRUE(until([&] { return banner().starts_with("The data of this model"); })) << banner();
}

}  // namespace
}  // namespace aft::app

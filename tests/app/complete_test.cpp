// Complete: the picture that cannot be had, data chosen in place, shortcuts that end in one frame,
// stopping, and the distribution at a clicked sub-pixel.
#include <imgui.h>

#include <fstream>

#include "app/ui/data_place.h"
#include "core/image.h"
#include "tests/app/stage_fixture.h"

namespace aft::app {
namespace {

namespace fs = std::filesystem;

class Complete : public BareTest {
  protected:
    // The picture file that needs no data.
    std::string white_picture() {
        Image image{8, 8, 3, std::vector<uint8_t>(size_t{8} * 8 * 3, 255)};
        const std::string path = (folder_ / "white.png").string();
        write_png(path, image);
        return path;
    }
    // The shipped mirror model, with data that lie where nothing is.
    void open_without_data() {
        initialize_model("cpu", 1);
        folder_ = fs::temp_directory_path() / ("afterimage-complete-" + std::to_string(::getpid()));
        fs::remove_all(folder_);
        fs::create_directories(folder_);
        make();
        stage_->frame().open(AFT_SOURCE_DIR "/assets/demo/mirror.safetensors");
        run("frames 2\nwait Ready 60\n");
        const int64_t levels = ui().status.config.model.levels;
        ui().session->set("data.source", "images:" + (folder_ / "nowhere").string() +
                                             "?size=16&gray=1&levels=" + std::to_string(levels));
        ui().selection.image = {};
        ASSERT_TRUE(until([&] { return ui().status.config.data.source.starts_with("images"); }));
        ui().selection.image = {};
        run("workspace Complete\nframes 3\n");
    }
    template <class Condition>
    bool until(const Condition& is_so, int most = 4000) {
        for (int i = 0; i < most; ++i) {
            if (is_so()) return true;
            steps(1);
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
        return is_so();
    }
};

TEST(DataPlace, SplitsAndJoinsASpec) {
    const DataPlace place = data_place("cifar10:data/cifar10?size=16");
    EXPECT_EQ(place.room, "cifar10");
    EXPECT_EQ(place.path, "data/cifar10");
    EXPECT_EQ(place.options, "?size=16");
    for (const char* spec :
         {"cifar10:data/cifar10?size=16", "mirror?size=8", "mirror", "text:a.txt"})
        EXPECT_EQ(data_place(spec).spec(), spec);
    EXPECT_EQ(data_place("mirror?size=8").path, "");
}

TEST_F(Complete, ShortcutCountsThoughControlIsReleasedInTheSameFrame) {
    make(fed(feed_small));
    ui().workspace = Workspace::train;
    steps(2);
    ImGuiIO& io = ImGui::GetIO();
    io.AddKeyEvent(ImGuiMod_Ctrl, true);
    io.AddKeyEvent(ImGuiKey_LeftCtrl, true);
    steps(1);
    const double before = ui().settings.zoom;
    io.AddKeyEvent(ImGuiKey_Equal, true);
    io.AddKeyEvent(ImGuiKey_LeftCtrl, false);
    io.AddKeyEvent(ImGuiMod_Ctrl, false);
    io.AddKeyEvent(ImGuiKey_Equal, false);
    steps(3);
    EXPECT_GT(ui().settings.zoom, before);
    const double larger = ui().settings.zoom;  // without Ctrl the key does nothing
    io.AddKeyEvent(ImGuiKey_Equal, true);
    steps(1);
    io.AddKeyEvent(ImGuiKey_Equal, false);
    steps(2);
    EXPECT_EQ(ui().settings.zoom, larger);
}

TEST_F(Complete, DataThatAreNotThereAreNamedAndCanBeChosenInPlace) {
    open_without_data();
    ASSERT_TRUE(until([&] { return is_there("Samples/Main/Banner"); }));
    EXPECT_NE(value_of("Samples/Main/Banner").find("nowhere"), std::string::npos);
    EXPECT_NE(ui().actions.why_not(ui(), "Complete the input").find("nowhere"), std::string::npos);
    run("workspace Attention\nframes 4\n");
    EXPECT_TRUE(is_there("Attention/Main/Banner"));
    EXPECT_FALSE(is_there("Attention/Main/Both: bias and content")) << "no map of nothing";

    fs::create_directories(folder_ / "pictures");
    for (const char* name : {"a.png", "b.png", "c.png", "d.png"})
        fs::copy_file(white_picture(), folder_ / "pictures" / name);
    choose_data(ui(), (folder_ / "pictures").string());
    ui().selection.image.split = "train";
    ASSERT_TRUE(until([&] { return ui().selection.image.item != nullptr; }))
        << ui().selection.image.error;
    run("frames 4\n");
    EXPECT_FALSE(is_there("Attention/Main/Banner"));
    EXPECT_EQ(ui().settings.data_places.at((folder_ / "nowhere").string()),
              (folder_ / "pictures").string());
}

TEST_F(Complete, APictureFromAFileOrABlankOneNeedsNoData) {
    open_without_data();
    ASSERT_TRUE(until([&] { return is_there("Samples/Main/Banner"); }));
    stage_->frame().open(white_picture());
    ASSERT_TRUE(until([&] { return ui().selection.image.item != nullptr; }));
    run("key Ctrl+Enter\n");
    ASSERT_TRUE(until([&] {
        const auto now = ui().session->completion();
        return now && now->done && now->error.empty();
    }));
    EXPECT_FALSE(is_there("Samples/Main/Banner"));
    run("Blank picture\nframes 3\n");
    EXPECT_EQ(ui().actions.why_not(ui(), "Complete the input"), "");
    run("workspace Attention\nframes 3\n");
    EXPECT_TRUE(until([&] { return is_there("Attention/Main/Both: bias and content"); }));
}

TEST_F(Complete, EscapeStopsAndAFileThatIsNoPictureIsNamed) {
    open_without_data();
    run("Blank picture\nframes 2\n");
    ui().selection.completion.sample.samples = 32;
    run("key Ctrl+Enter\n");
    ASSERT_TRUE(until([&] { return ui().session->completion() != nullptr; }));
    ASSERT_FALSE(ui().session->completion()->done);
    run("key Esc\n");
    ASSERT_TRUE(until([&] {
        const auto now = ui().session->completion();
        return now && now->done;
    }));
    EXPECT_TRUE(ui().session->completion()->stopped);
    const fs::path broken = folder_ / "broken.png";
    std::ofstream(broken) << "no picture";
    stage_->frame().open(broken.string());
    ASSERT_TRUE(until([&] { return !ui().selection.image.error.empty(); }));
    EXPECT_NE(ui().selection.image.error.find("broken.png"), std::string::npos);
}

}  // namespace
}  // namespace aft::app

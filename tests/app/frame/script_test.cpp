// Scripts: what they can do, and how they fail.
#include <fstream>

#include "app/host/headless_run.h"
#include "core/files.h"
#include "tests/app/stage_fixture.h"

namespace aft::app {
namespace {

class Scripts : public BareTest {
  protected:
    std::string error_of(const std::string& text) {
        try {
            run(text);
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    }
};

TEST_F(Scripts, UnknownActionStopsWithItsLine) {
    make();
    const std::string error = error_of("# a comment\n\nview.workspace_train\nworkspace Trane\n");
    EXPECT_NE(error.find("test, line 4"), std::string::npos) << error;
    EXPECT_NE(error.find("workspace Trane"), std::string::npos) << error;
    EXPECT_NE(error.find("Workspace Train"), std::string::npos) << error;
}

TEST_F(Scripts, FailuresNameTheLineAndTheReason) {
    make(fed(feed_small));
    run("view.workspace_train\nframes 3\n");
    EXPECT_NE(error_of("click no/such/widget\n").find("line 1"), std::string::npos);
    EXPECT_NE(error_of("frames 2\nframes many\n").find("line 2"), std::string::npos);
    const std::string late = error_of("frames 1\nwait never-there 0.05\nframes 1\n");
    EXPECT_NE(late.find("did not appear"), std::string::npos);
    EXPECT_NE(late.find("line 2: 'wait never-there 0.05'"), std::string::npos) << late;
    EXPECT_NE(error_of("key Hyper+J\n").find("not understood"), std::string::npos);
    EXPECT_NE(error_of("set no/such/field 3\n").find("no such field"), std::string::npos);
    EXPECT_NE(error_of("shot x.png\n").find("cannot be taken"), std::string::npos);
    EXPECT_NE(error_of("hover curves/plots/loss 3\n").find("line 1"), std::string::npos);
    EXPECT_NE(error_of("set controls/optimiser/train.clip heavy\n").find("found heavy"),
              std::string::npos);
}

TEST_F(Scripts, WaitingForAModelThatCannotBeOpenedEndsWithTheReason) {
    make();
    const std::string path = (scratch_ / "cut.safetensors").string();
    std::ofstream(path) << "no tensors";
    const std::string error = error_of("open " + path + "\nwait Ready 600\n");
    EXPECT_NE(error.find("line 2: 'wait Ready 600'"), std::string::npos) << error;
    EXPECT_NE(error.find(path), std::string::npos) << error;
}

TEST_F(Scripts, SetsFieldsSlidersAndSegments) {
    make(fed(feed_small));
    run("view.workspace_train\nframes 3\nset curves/scale/smooth 0.5\nset \"curves/scale/y_axis\" "
        "Log\n"
        "frames 3\n");
    EXPECT_EQ(value_of("curves/scale/smooth"), "0.50");
    EXPECT_EQ(value_of("curves/scale/y_axis"), "Log");
    EXPECT_NE(error_of("set \"curves/scale/y_axis\" Cubic\n").find("Linear, Log"),
              std::string::npos);
    EXPECT_NE(error_of("set curves/scale/smooth 200\n").find("found 200"), std::string::npos);
}

TEST_F(Scripts, ShowsPrintsTheNumberOfAWidget) {
    make(fed(feed_small));
    testing::internal::CaptureStderr();
    run("view.workspace_train\nframes 3\nset curves/scale/smooth 0.5\nshows curves/scale/smooth\n");
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "curves/scale/smooth: 0.50\n");
}

TEST_F(Scripts, ClicksByLabel) {
    make(fed(feed_small));
    run("click \"Top bar/Workspaces/Train\"\nframes 3\n");
    EXPECT_EQ(ui().workspace, Workspace::train);
    run("click \"Curves/Scale/x axis=Log\"\nframes 3\n");
    EXPECT_EQ(value_of("curves/scale/x_axis"), "Log");
    run("set \"Curves/Scale/x axis\" Linear\nset Curves/Scale/Smooth 0.25\nframes 3\n");
    EXPECT_EQ(value_of("curves/scale/x_axis"), "Linear");
    EXPECT_EQ(value_of("curves/scale/smooth"), "0.25");
    EXPECT_NE(error_of("click timeline/transport/no\n"), "");
}

TEST_F(Scripts, ClicksByIdActionOrTheEndOfAPath) {
    make(fed(feed_small));
    run("click top_bar/workspaces/train\nframes 3\n");
    EXPECT_EQ(ui().workspace, Workspace::train);
    run("click scale/x_axis=log\nset y_axis log\nframes 3\n");
    EXPECT_EQ(value_of("curves/scale/x_axis=log"), "on");
    EXPECT_EQ(value_of("curves/scale/y_axis"), "Log");
    const WidgetRecord* const until = ui().recorder.find("run.until");
    ASSERT_NE(until, nullptr);
    EXPECT_EQ(until->path.id, "run/run/until");
    EXPECT_EQ(until->path.label, "Run/Run/Run until...");
    EXPECT_EQ(ui().recorder.find("Run/Run/Run until..."), until);
    EXPECT_EQ(ui().recorder.find("ntil"), nullptr) << "not the end of a name";
}

TEST_F(Scripts, APictureWaitsForWhatIsStillBeingRead) {
    const auto shown = [](const char* kind, const char* value) {
        WidgetRecord record;
        record.kind = kind;
        record.value = value;
        return std::vector<WidgetRecord>{record};
    };
    EXPECT_TRUE(is_reading(shown("caption", "Reading layer 2 of 12")));
    EXPECT_TRUE(is_reading(shown("map", "loading")));
    EXPECT_FALSE(is_reading(shown("map", "layer 2")));
    EXPECT_FALSE(is_reading(shown("button", "Reading list")));
    open_mirror();
    run("view.workspace_biases\nframes 3\nwait drawn\nframes 4\n");
    EXPECT_TRUE(until([&] { return !is_reading(ui().recorder.last()); }));
}

TEST_F(Scripts, WaitForWordsOrForAWholeId) {
    make(fed(feed_small));
    run("view.workspace_train\nframes 3\nwait Paused\nwait curves/scale/x_axis\n");
    EXPECT_NE(error_of("wait scale/x_axis 0.05\n").find("did not appear"), std::string::npos)
        << "a part of an id is no text on the screen";
}

TEST_F(Scripts, QuitEndsAndDumpIsWritten) {
    make(fed(feed_small));
    const auto path = std::filesystem::temp_directory_path() / "afterimage-dump-test.txt";
    run("view.workspace_train\nframes 3\ndump " + path.string() + "\nfile.quit\n");
    EXPECT_TRUE(ui().commands.is_quitting());
    const std::string dump = read_file(path);
    EXPECT_TRUE(dump.starts_with("frame\t")) << dump.substr(0, 40);
    EXPECT_NE(dump.substr(0, dump.find('\n')).find("\tTrain"), std::string::npos);
    std::filesystem::remove(path);
}

TEST(Dump, HasSixFieldsALineAndEscapes) {
    GuiContext context;
    Recorder recorder;
    recorder.begin_frame();
    ImGuiIO& io = ImGui::GetIO();
    io.DisplaySize = {100, 100};
    io.BackendFlags |= ImGuiBackendFlags_RendererHasTextures;
    ImGui::NewFrame();
    ImGui::Begin("w");
    recorder.set_pane("Some pane##pane");
    recorder.set_section("Section##section");
    for (int i = 0; i < 2; ++i)
        recorder.area({.kind = "field",
                       .path = recorder.claim("Name##name"),
                       .min = {1.4f, 2.6f},
                       .max = {11.4f, 22.6f},
                       .value = "a\tb\\c\nd\r\x1b[2J\xff",
                       .why_not = i == 0 ? "" : "not\tnow"});
    ImGui::End();
    ImGui::EndFrame();
    recorder.end_frame();
    EXPECT_EQ(
        dump_text(recorder, 7, "Train", 2),
        "frame\t7\tTrain\n"
        "field\tSome pane/Section/Name\t3 5 20 40\ta\\tb\\\\c\\nd\\x0d\\x1b[2J\\xff\tenabled\t"
        "pane/section/name\n"
        "field\tSome pane/Section/Name#2\t3 5 20 40\ta\\tb\\\\c\\nd\\x0d\\x1b[2J\\xff\tdisabled: "
        "not\\tnow\tpane/section/name#2\n");
}

}  // namespace
}  // namespace aft::app

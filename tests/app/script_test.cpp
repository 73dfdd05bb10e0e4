// Scripts: what they can do, and how they fail.
#include <fstream>

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
    const std::string error = error_of("# a comment\n\nworkspace Train\nworkspace Trane\n");
    EXPECT_NE(error.find("test, line 4"), std::string::npos) << error;
    EXPECT_NE(error.find("workspace Trane"), std::string::npos) << error;
    EXPECT_NE(error.find("Workspace Train"), std::string::npos) << error;
}

TEST_F(Scripts, FailuresNameTheLineAndTheReason) {
    make(fed(feed_small));
    run("workspace Train\nframes 3\n");
    EXPECT_NE(error_of("click No/Such/Widget\n").find("line 1"), std::string::npos);
    EXPECT_NE(error_of("frames 2\nframes many\n").find("line 2"), std::string::npos);
    const std::string late = error_of("frames 1\nwait never-there 0.05\nframes 1\n");
    EXPECT_NE(late.find("did not appear"), std::string::npos);
    EXPECT_NE(late.find("line 2: 'wait never-there 0.05'"), std::string::npos) << late;
    EXPECT_NE(error_of("key Hyper+J\n").find("not understood"), std::string::npos);
    EXPECT_NE(error_of("set No/Such/Field 3\n").find("no such field"), std::string::npos);
    EXPECT_NE(error_of("shot x.png\n").find("cannot be taken"), std::string::npos);
    EXPECT_NE(error_of("hover Curves/Plots/Loss 3\n").find("line 1"), std::string::npos);
    EXPECT_NE(error_of("set Controls/Optimiser/train.clip heavy\n").find("found heavy"),
              std::string::npos);
}

TEST_F(Scripts, SetsFieldsSlidersAndSegments) {
    make(fed(feed_small));
    run("workspace Train\nframes 3\nset Curves/Scale/Smooth 0.5\nset \"Curves/Scale/y axis\" Log\n"
        "frames 3\n");
    EXPECT_EQ(value_of("Curves/Scale/Smooth"), "0.50");
    EXPECT_EQ(value_of("Curves/Scale/y axis"), "Log");
    EXPECT_NE(error_of("set \"Curves/Scale/y axis\" Cubic\n").find("Linear, Log"),
              std::string::npos);
    EXPECT_NE(error_of("set Curves/Scale/Smooth 200\n").find("found 200"), std::string::npos);
}

TEST_F(Scripts, ClicksByLabel) {
    make(fed(feed_small));
    run("click \"Top bar/Workspaces/Train\"\nframes 3\n");
    EXPECT_EQ(ui().workspace, Workspace::train);
    run("click \"Curves/Scale/x axis=Log\"\nframes 3\n");
    EXPECT_EQ(value_of("Curves/Scale/x axis"), "Log");
    EXPECT_NE(error_of("click \"Timeline/Transport/No\"\n"), "");
}

TEST_F(Scripts, QuitEndsAndDumpIsWritten) {
    make(fed(feed_small));
    const auto path = std::filesystem::temp_directory_path() / "afterimage-dump-test.txt";
    run("workspace Train\nframes 3\ndump " + path.string() + "\nquit\n");
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

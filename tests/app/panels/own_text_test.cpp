// Texts as the input: one's own, the rows of the sample popup, and a file that is too short.
#include "app/panels/shared/own_text.h"

#include "app/state/view_file.h"
#include "tests/app/panels/text_run.h"

namespace aft::app {
namespace {

class OwnText : public BareTest {
  protected:
    struct OwnTextShape {
        int64_t length = 32, levels = 256;
        std::string options{};
        ImVec2 window{1600, 1000};
        float scale = 1;
    };
    void open(const OwnTextShape& shape) {
        initialize_model("cpu", 1);
        FrameOptions options;
        options.display_scale = shape.scale;
        make(options, shape.window);
        OpenRequest request = text_run(scratch_.path(), 3);
        request.config->model.own["length"] = shape.length;
        request.config->model.levels = shape.levels;
        request.config->data.source += shape.options;
        ui().commands.send(OpenRun{std::move(request)});
        run("frames 2\nwait Ready\nview.workspace_attention\nframes 4\n");
        ASSERT_TRUE(until([&] { return ui().selection.image.item != nullptr; }));
    }
    void open_chooser() {
        run("click attention/main/choose_sample\nframes 3\n");
        ASSERT_TRUE(is_there("own_text")) << dump(ui());
    }
    void look_at(const std::string& words) {
        open_chooser();
        run("set own_text " + words + "\nframes 3\nclick look_at_own_text\nframes 3\n");
    }
    // In a window of 1100 x 700 pixels.
    void choose_among_long_texts(float scale) {
        open({.length = 160, .window = {1100, 700}, .scale = scale});
        open_chooser();
        ASSERT_TRUE(until([&] { return value_of("example_0").starts_with("0: "); })) << dump(ui());
        EXPECT_GE(value_of("example_0").size(), 120U);
        EXPECT_NE(value_of("example_0").find("\u21B5"), std::string::npos) << "line ends are seen";
        for (const char* id : {"own_text", "look_at_own_text", "split", "index", "previous_page",
                               "next_page", "example_0"})
            EXPECT_TRUE(is_in_view(id));
        run("click split=train\nframes 3\n");
        ASSERT_TRUE(until([&] { return value_of("example_1").starts_with("1: "); }));
        run("click example_1\nframes 3\n");
        EXPECT_EQ(ui().selection.image.index, 1);
    }
    std::string caption() {
        return ui().selection.image.item ? ui().selection.image.item->caption : "";
    }
    std::string looked_at() {
        const std::vector<uint8_t> bytes =
            ui().selection.image.item ? ui().selection.image.item->tokens : std::vector<uint8_t>();
        return {bytes.begin(), bytes.end()};
    }
    // Inside the window, whole.
    testing::AssertionResult is_in_view(const std::string& id) {
        const WidgetRecord* const widget = ui().recorder.find(id);
        const ImVec2 window = ImGui::GetIO().DisplaySize;
        const bool is_in = widget != nullptr && widget->visible && widget->min.x >= 0 &&
                           widget->min.y >= 0 && widget->max.x <= window.x &&
                           widget->max.y <= window.y;
        return is_in ? testing::AssertionSuccess()
                     : testing::AssertionFailure() << id << "\n"
                                                   << dump(ui());
    }
};

TEST_F(OwnText, StandsInTheWindowOfTheModelWithSpacesBehindIt) {
    open({});
    ui().selection.cell.target = 20;
    look_at("Hello,there");
    EXPECT_EQ(looked_at(), "Hello,there" + std::string(21, ' '));
    EXPECT_FALSE(is_there("own_text")) << "what was taken is looked at";
    EXPECT_EQ(ui().selection.cell.target, 10) << "its last byte";
    EXPECT_EQ(caption(), "own text, 11 bytes");
    steps(20);
    EXPECT_FALSE(is_there("attention/main/banner")) << dump(ui());
    open_chooser();
    EXPECT_EQ(value_of("own_text_length"), "11 bytes; spaces follow, up to 32.");
    ui().selection.cell.target = 4;
    run("click look_at_own_text\nframes 3\n");
    EXPECT_EQ(ui().selection.cell.target, 4) << "it is of the text";
}

TEST_F(OwnText, HasACommandAndComesBackWithAView) {
    open({});
    run("run.start\nwait Stopped\nframes 5\n");
    look_at("Hello,there");
    const std::string whole = "Hello,there" + std::string(21, ' ');
    const auto copy = [&] { return ui().recorder.find("inspector/actions/copy_as_command"); };
    ASSERT_TRUE(until([&] { return copy() != nullptr && copy()->why_not.empty(); })) << dump(ui());
    run("click inspector/actions/copy_as_command\nframes 3\n");
    const std::string command = ImGui::GetClipboardText();
    EXPECT_NE(command.find(" --text '" + whole + "'"), std::string::npos) << command;
    const std::string file = (scratch_ / "seen.json").string();
    write_view_file(file, view_of(ui()));
    ui().commands.send(CloseModel{});
    run("frames 3\n");
    stage_->frame().open(file);
    ASSERT_TRUE(until([&] { return looked_at() == whole; })) << caption();
    ui().selection.image = {.split = {}, .index = 0, .path = {}, .item = nullptr, .text = "x"};
    ASSERT_TRUE(until([&] { return ui().selection.image.item != nullptr; }));
    EXPECT_EQ(looked_at(), "x" + std::string(31, ' '));
}

TEST_F(OwnText, IsTakenByEnterAsUtf8) {
    open({});
    open_chooser();
    run("click own_text\nframes 3\n");
    ImGui::GetIO().AddInputCharactersUTF8("caf\u00e9");
    steps(3);
    run("key Enter\nframes 3\n");
    EXPECT_EQ(looked_at(), "caf\u00e9" + std::string(27, ' '));
}

TEST_F(OwnText, IsCutWhereItIsLongerThanTheModelReads) {
    open({});
    open_chooser();
    const auto* const take = ui().recorder.find("look_at_own_text");
    ASSERT_NE(take, nullptr);
    EXPECT_EQ(take->why_not, "There is no text yet.");
    EXPECT_EQ(value_of("own_text_length"), "Up to 32 bytes, as UTF-8.");
    run("set own_text " + std::string(40, 'q') + "\nframes 3\n");
    EXPECT_EQ(value_of("own_text_length"), "40 bytes; the model reads the first 32.");
    run("click look_at_own_text\nframes 3\n");
    EXPECT_EQ(looked_at(), std::string(32, 'q'));
    EXPECT_EQ(caption(), "own text, 32 of 40 bytes");
}

// "Line 0 says: all's well." knows no q: 24 bytes occur in the text.
TEST_F(OwnText, HasOnlyBytesThatTheModelKnows) {
    open({.levels = 24, .options = "?alphabet=used"});
    ASSERT_TRUE(until([&] { return ui().status.alphabet.size() == 24; }));
    const std::vector<uint8_t> before = ui().selection.image.item->tokens;
    open_chooser();
    run("set own_text wellq\nframes 3\n");
    const std::string why = "The text's byte 113 is not in the alphabet of this model.";
    EXPECT_EQ(value_of("own_text_length"), why);
    EXPECT_EQ(ui().recorder.find("look_at_own_text")->why_not, why);
    show_own_text(ui(), "wellq");
    EXPECT_EQ(ui().selection.image.item->tokens, before);
    run("set own_text well\nframes 3\nclick look_at_own_text\nframes 3\n");
    const std::vector<uint8_t>& tokens = ui().selection.image.item->tokens;
    ASSERT_EQ(tokens.size(), 32U);
    EXPECT_EQ(ui().status.alphabet.at(tokens[0]), 'w');
    EXPECT_EQ(ui().status.alphabet.at(tokens[31]), ' ');
}

TEST_F(OwnText, TextsOfTheDataStandInLinesThatCanBeRead) {
    choose_among_long_texts(1);
}

TEST_F(OwnText, TheyFitTheWindowAtTwiceTheScale) {
    choose_among_long_texts(2);
}

TEST_F(OwnText, AFileThatIsTooShortSaysWhatIsNeeded) {
    open({});
    run("run.start\nwait Stopped\nframes 5\n");
    const auto model = scratch_ / "text" / "checkpoints" / "step-00000003.safetensors";
    ASSERT_TRUE(std::filesystem::exists(model));
    stage_->frame().open(model.string());
    run("frames 2\nwait Ready\nview.workspace_attention\nframes 4\n");
    ASSERT_TRUE(until([&] { return ui().status.path.ends_with(".safetensors"); }));
    const std::string file = (scratch_ / "short.txt").string();
    std::ofstream(file) << "hello world, this is short\n";
    session().run().set("data.source", "text:" + file);
    ASSERT_TRUE(until([&] { return ui().status.config.data.source.ends_with("short.txt"); }));
    ui().selection.image = {};
    ASSERT_TRUE(until([&] { return is_there("attention/main/banner"); })) << dump(ui());
    const std::string words = value_of("attention/main/banner");
    EXPECT_TRUE(words.starts_with("This text is too short")) << words;
    EXPECT_NE(words.find("has 27 bytes; the model needs at least 36"), std::string::npos) << words;
}

TEST_F(OwnText, TheDataOfANewRunSayItToo) {
    initialize_model("cpu", 1);
    make();
    const std::string file = (scratch_ / "short.txt").string();
    std::ofstream(file) << "hello world, this is short\n";
    run("file.new_run\nframes 3\nset home/new_run/preset shakespeare-small\nframes 3\n");
    run("set home/new_run/data text:" + file + "\nframes 3\n");
    run("click home/new_run/browse_data\nframes 3\n");
    EXPECT_TRUE(until([&] {
        return value_of("problem").find("27 bytes; the model needs at least 285") !=
               std::string::npos;
    })) << value_of("problem");
}

}  // namespace
}  // namespace aft::app

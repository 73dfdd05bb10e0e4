// A completed text: every character of a sample can be clicked, and Play then looks at it.
#include "app/panels/complete/completion_state.h"
#include "app/panels/complete/sample_overlay.h"
#include "tests/app/panels/text_run.h"
#include "tests/app/stage_fixture.h"
#include "viz/text_map.h"

namespace aft::app {
namespace {

class SampleText : public BareTest {
  protected:
    void complete_text(int64_t length = 12) {
        initialize_model("cpu", 1);
        make();
        ui().commands.send(OpenRun{text_run(scratch_.path(), 60)});
        run("frames 2\nwait Ready\nview.workspace_complete\nframes 4\n");
        CompletionChoice& choice = ui().selection.completion;
        choice.prompt = "Line";
        choice.length = length;
        choice.sample.samples = 2;
        run("complete.start\nframes 3\n");
        ASSERT_TRUE(until([&] {
            const auto& now = ui().selection.completion.own;
            return now && now->done && now->error.empty();
        }));
        steps(3);
    }
    // Where a byte of the second sample stands.
    ImVec2 place_of(size_t byte) {
        const WidgetRecord* const area = ui().recorder.find("samples/main/text_2");
        const ImVec2 cell = viz::text_cell(ui());
        const auto& tokens = ui().selection.completion.own->samples.at(1);
        const auto columns = std::llround((area->max.x - area->min.x) / cell.x);
        const viz::TextLayout layout =
            viz::lay_out_text(shown_bytes(ui(), tokens, tokens.size()), columns);
        const viz::MapCell at = layout.places.at(byte);
        return {(float(at.column) + 0.5F) * cell.x, (float(at.row) + 0.5F) * cell.y};
    }
    void click(size_t byte) {
        const WidgetRecord* const area = ui().recorder.find("samples/main/text_2");
        ASSERT_NE(area, nullptr);
        const ImVec2 at = place_of(byte);
        ImGuiIO& io = ImGui::GetIO();
        io.AddMousePosEvent(area->min.x + at.x, area->min.y + at.y);
        steps(2);
        io.AddMouseButtonEvent(0, true);
        steps(2);
        io.AddMouseButtonEvent(0, false);
        steps(3);
    }
};

TEST_F(SampleText, ACharacterThatWasAddedIsLookedAt) {
    complete_text();
    click(6);
    EXPECT_EQ(ui().selection.completion.chosen, 1);
    EXPECT_EQ(ui().selection.completion.position, 6);
    EXPECT_TRUE(until([&] { return is_there("play/byte_6/chosen"); }));
}

// The model reads 32 tokens: of a longer text those that end at the byte.
TEST_F(SampleText, AByteOfALongTextIsLookedAtInAttention) {
    complete_text(60);
    ui().selection.completion.chosen = 1;
    ui().selection.completion.position = 50;
    run("frames 3\ncomplete.look_from_here\nframes 4\n");
    EXPECT_EQ(ui().workspace, Workspace::attention);
    EXPECT_EQ(ui().selection.cell.target, 31);
    ASSERT_TRUE(ui().selection.image.item);
    const auto& whole = ui().selection.completion.own->samples.at(1);
    const std::vector<uint8_t> part(whole.begin() + 19, whole.begin() + 51);
    EXPECT_EQ(ui().selection.image.item->tokens, part);
    EXPECT_TRUE(until([&] {
        return value_of("inspector/prior_or_content/divergence_from_prior").find("bit") !=
               std::string::npos;
    })) << dump(ui());
}

TEST_F(SampleText, AShortTextIsNoInput) {
    complete_text();
    EXPECT_NE(ui().actions.why_not(ui(), "complete.look_from_here").find("the 32 tokens"),
              std::string::npos)
        << ui().actions.why_not(ui(), "complete.look_from_here");
}

TEST_F(SampleText, EveryByteHasItsEntropyAsAColour) {
    complete_text();
    EXPECT_FALSE(is_there("samples/main/overlay_colours"));
    run("click samples/main/overlay=entropy\nframes 3\n");
    EXPECT_NE(value_of("samples/main/overlay_colours").find("Entropy of the prediction, bit: 0 to"),
              std::string::npos);
    SampleOverlay overlay;
    const auto done = ui().selection.completion.own;
    overlay.update(ui(), done);
    for (size_t i = 0; i < 16; ++i)
        EXPECT_EQ(overlay.ground(*done, 0, i) != 0, i >= 4) << i << ": given or drawn";
    run("click samples/main/overlay=spread\nframes 3\n");
    EXPECT_NE(value_of("samples/main/overlay_colours").find("another byte than in most of 2"),
              std::string::npos)
        << value_of("samples/main/overlay_colours");
}

TEST_F(SampleText, ACharacterOfThePromptChoosesTheSampleAlone) {
    complete_text();
    click(2);
    EXPECT_EQ(ui().selection.completion.chosen, 1);
    EXPECT_NE(ui().selection.completion.position, 2);
}

TEST_F(SampleText, PlayNamesBytesAndNotTheirNumbers) {
    complete_text();
    click(6);
    ASSERT_TRUE(until([&] { return is_there("play/main/axis"); }));
    EXPECT_EQ(value_of("play/main/axis"), "0x00 to 0xFF");
    EXPECT_EQ(value_of("play/byte_6/new_level"), value_of("play/byte_6/chosen"));
    run("click play/byte_6/new_level\nframes 3\n");
    run(fmt::format("click play/byte_6/new_level=byte_{}\nframes 3\n", int('e')));
    EXPECT_EQ(ui().selection.completion.level, 'e');
    EXPECT_EQ(value_of("play/byte_6/new_level"), "'e'");
}

// A script's value may have blanks after an id, in quotes or not.
TEST_F(SampleText, AScriptWritesAPromptOfSeveralWords) {
    complete_text();
    run("set source/prompt/prompt Line 7 says\nframes 3\n");
    EXPECT_EQ(ui().selection.completion.prompt, "Line 7 says");
    run("set source/prompt/prompt \"all's well\"\nframes 3\n");
    EXPECT_EQ(ui().selection.completion.prompt, "all's well");
}

TEST_F(SampleText, TheWholeTextIsRecorded) {
    complete_text();
    EXPECT_TRUE(value_of("samples/main/text_1").starts_with("Line\u2502"))
        << value_of("samples/main/text_1");
}

}  // namespace
}  // namespace aft::app

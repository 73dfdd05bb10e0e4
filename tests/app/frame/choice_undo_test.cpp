// Undo of what is chosen in Complete, the Lab and Compare: sampling, strokes of the mask among it,
// the pinned batch, slots and view; never into another run.
#include "tests/app/panels/text_run.h"
#include "tests/app/stage_fixture.h"
#include "tests/app/ui_driver.h"

namespace aft::app {
namespace {

class ChoiceUndo : public BareTest {
  protected:
    // What the newest toast says was taken back or done again.
    std::string said() {
        return ui().toasts.shown().empty() ? "" : ui().toasts.shown().back().detail;
    }
    std::string undone() {
        run("key Ctrl+Z\nframes 3\n");
        return said();
    }
    std::string redone() {
        run("key Ctrl+Y\nframes 3\n");
        return said();
    }
    bool is_all_undone() { return !ui().actions.why_not(ui(), "edit.undo").empty(); }
    SampleOptions& sample() { return ui().selection.completion.sample; }
    CompareChoice& compare() { return ui().selection.compare; }
    int64_t masked() {
        const auto mask = ui().selection.completion.mask.mask();
        return std::count(mask.begin(), mask.end(), uint8_t{1});
    }
};

TEST_F(ChoiceUndo, SamplingAndStrokesOfTheMaskComeBackInTheirOrder) {
    open_mirror();
    run("view.workspace_complete\nframes 5\n");
    ASSERT_TRUE(until([&] { return masked() > 0; }));
    const int64_t half = masked();
    const SampleOptions first = sample();
    EXPECT_TRUE(is_all_undone());
    run("set sampling/options/temperature 0.5\nframes 3\nmask.all\nframes 3\n"
        "set sampling/options/number_of_samples 7\nframes 3\n"
        "set sampling/options/top_p 0.25\nframes 3\nset sampling/options/particles 3\nframes 3\n"
        "set sampling/options/top_k 2\nframes 3\nset sampling/options/seed 11\nframes 3\n"
        "click sampling/options/lock_seed\nframes 3\ncomplete.new_seed\nframes 3\n");
    const uint64_t other = sample().seed;
    EXPECT_NE(other, 11U);
    EXPECT_EQ(undone(), "seed = 11");
    EXPECT_EQ(undone(), "seed locked = on");
    EXPECT_EQ(undone(), "seed = 1");
    EXPECT_EQ(undone(), "top-k = 0");
    EXPECT_EQ(undone(), "particles = 1");
    EXPECT_EQ(undone(), "top-p = 1");
    EXPECT_EQ(undone(), "samples = 4");
    EXPECT_GT(masked(), half);
    (void)undone();
    EXPECT_EQ(masked(), half) << "the stroke was newer than the temperature";
    EXPECT_EQ(sample().temperature, 0.5);
    EXPECT_EQ(undone(), "temperature = 1");
    EXPECT_TRUE(is_all_undone());
    EXPECT_EQ(sample().seed, first.seed);
    EXPECT_EQ(sample().top_p, first.top_p);
    EXPECT_EQ(redone(), "temperature = 0.5");
    (void)redone();
    EXPECT_GT(masked(), half);
    EXPECT_EQ(redone(), "samples = 7");
    for (int i = 0; i < 6; ++i) (void)redone();
    EXPECT_EQ(sample().seed, other);
    EXPECT_FALSE(ui().selection.completion.seed_locked);
    EXPECT_NE(ui().actions.why_not(ui(), "edit.redo"), "");
}

TEST_F(ChoiceUndo, ADragIsOneChange) {
    open_mirror();
    run("view.workspace_complete\nframes 5\n");
    ASSERT_TRUE(until([&] { return is_there("sampling/options/temperature"); }));
    const double before = sample().temperature;
    const WidgetRecord slider = *ui().recorder.find("sampling/options/temperature");
    UiDriver driver(stage_, 1);
    const float y = (slider.min.y + slider.max.y) / 2, wide = slider.max.x - slider.min.x;
    driver.drag({slider.min.x + wide * 0.3F, y}, {slider.min.x + wide * 0.6F, y});
    steps(3);
    EXPECT_NE(sample().temperature, before);
    (void)undone();
    EXPECT_EQ(sample().temperature, before);
    EXPECT_TRUE(is_all_undone());
}

// A new seed for every run is the program's, once that is chosen.
TEST_F(ChoiceUndo, ASeedThatEveryRunTakesIsNoChange) {
    open_mirror();
    run("view.workspace_complete\nframes 5\n");
    sample().samples = 1;
    ASSERT_TRUE(until([&] { return ui().selection.image.item != nullptr; }));
    run("frames 2\nclick sampling/options/lock_seed\nframes 2\n");
    for (int i = 0; i < 2; ++i) {
        run("key Ctrl+Enter\nframes 3\n");
        ASSERT_TRUE(until([&] {
            const auto now = ui().session->completions().latest();
            return now && now->done;
        }));
    }
    EXPECT_NE(sample().seed, 1U);
    EXPECT_EQ(undone(), "seed locked = on");
}

TEST_F(ChoiceUndo, APromptIsOneChangeAlsoWhereTypingPauses) {
    initialize_model("cpu", 1);
    make();
    ui().commands.send(OpenRun{text_run(scratch_.path(), 2)});
    run("frames 2\nwait Ready\nview.workspace_complete\nframes 5\n");
    const auto prompt = [&] { return ui().selection.completion.prompt; };
    const std::string first = prompt();
    ASSERT_TRUE(is_there("source/prompt/prompt")) << dump(ui());
    run("click source/prompt/prompt\nframes 3\n");
    ImGuiIO& io = ImGui::GetIO();
    for (const char* const part : {"one ", "two "}) {
        io.AddInputCharactersUTF8(part);
        for (int i = 0; i < 90; ++i) stage_->step();  // more than a second of the window's clock
    }
    EXPECT_EQ(prompt(), "one two ");
    run("key Enter\nframes 3\nset source/prompt/length 17\nframes 3\n");
    EXPECT_EQ(undone(), "length of the text = 200");
    (void)undone();
    EXPECT_EQ(prompt(), first);
    EXPECT_TRUE(is_all_undone());
    EXPECT_EQ(redone(), "prompt");
    EXPECT_EQ(prompt(), "one two ");
}

TEST_F(ChoiceUndo, ThePinnedBatchOfTheLab) {
    make();
    open_tiny_run(4);
    run("view.workspace_lab\nframes 3\nlab.zero_selected\nframes 20\n");
    const LabChoice& lab = ui().selection.lab;
    ASSERT_TRUE(until([&] { return lab.numbers.measured > 0; }));
    const int64_t examples = lab.examples;
    run("set inspector/pinned_batch/examples 6\nframes 3\n"
        "set inspector/pinned_batch/first_index 2\nframes 3\n");
    EXPECT_EQ(undone(), "first index of the pinned batch = 0");
    EXPECT_EQ(undone(), "examples of the pinned batch = " + std::to_string(examples));
    EXPECT_EQ(lab.recipe.interventions.size(), 1U);
    (void)undone();
    EXPECT_EQ(lab.recipe.interventions.size(), 0U);
    EXPECT_TRUE(is_all_undone()) << "fewer examples than were asked for are no change: " << said();
    (void)redone();
    (void)redone();
    EXPECT_EQ(lab.examples, 6);
}

TEST_F(ChoiceUndo, SlotsAndViewOfCompare) {
    open_trained_run();
    run("view.workspace_compare\nframes 5\n");
    EXPECT_TRUE(is_all_undone()) << "what is open is there by itself: " << said();
    run("compare.add_step\nframes 5\n");
    ASSERT_EQ(compare().slots.size(), 2U);
    const int64_t step = compare().slots[0].step;
    ASSERT_TRUE(
        until([&] { return value_of("compare/main/slot_a").find("step") != std::string::npos; }));
    run("set compare/main/step_a " + std::to_string(ui().history.back()) +
        "\nframes 4\n"
        "compare.swap\nframes 4\nclick compare/main/view=flicker\nframes 4\n"
        "click compare/main/remove_b\nframes 4\n");
    ASSERT_EQ(compare().slots.size(), 1U);
    EXPECT_EQ(undone(), "slot of Compare removed");
    EXPECT_EQ(compare().slots.size(), 2U);
    EXPECT_EQ(undone(), "view of Compare");
    EXPECT_EQ(compare().view, CompareView::side_by_side);
    EXPECT_EQ(undone(), "slots of Compare swapped");
    EXPECT_TRUE(compare().slots[1].is_open());
    EXPECT_EQ(undone(), "step of slot A");
    EXPECT_EQ(compare().slots[0].step, step);
    EXPECT_EQ(undone(), "slot of Compare added");
    EXPECT_EQ(compare().slots.size(), 1U);
    EXPECT_TRUE(is_all_undone());
    for (int i = 0; i < 5; ++i) (void)redone();
    EXPECT_EQ(compare().slots.size(), 1U);
    EXPECT_EQ(compare().slots[0].step, -1) << "swapped, and the other one removed";
    EXPECT_EQ(compare().view, CompareView::flicker);
}

TEST_F(ChoiceUndo, NeverReachesIntoAnotherRun) {
    open_trained_run();
    run("view.workspace_complete\nframes 5\nset sampling/options/temperature 0.5\nframes 3\n"
        "mask.all\nframes 3\nlab.zero_selected\nframes 3\nlab.clear\nframes 3\n");
    ASSERT_FALSE(is_all_undone());
    ASSERT_TRUE(ui().selection.lab.history.can_undo());
    ui().commands.send(CloseModel{});
    steps(3);
    EXPECT_TRUE(is_all_undone());
    OpenRequest request;
    request.config = tiny_config();
    request.out = (scratch_ / "other").string();
    ui().commands.send(OpenRun{std::move(request)});
    run("frames 2\nwait Ready\nframes 3\nview.workspace_complete\nframes 5\n");
    EXPECT_TRUE(is_all_undone());
    EXPECT_FALSE(ui().selection.completion.mask.can_undo());
    EXPECT_FALSE(ui().selection.lab.history.can_undo());
}

}  // namespace
}  // namespace aft::app

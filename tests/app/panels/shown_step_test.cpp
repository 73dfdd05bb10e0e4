// What is measured and drawn is of the step that the timeline shows: the Lab of a run that another
// process trains, Confusion, completions. And an error names no saved step that is not there.
#include <filesystem>

#include "core/text.h"
#include "tests/app/stage_fixture.h"

namespace aft::app {
namespace {

class ShownStep : public BareTest {
  protected:
    [[nodiscard]] bool has_measured_all() {
        const LabChoice& lab = ui().selection.lab;
        return lab.numbers.together && lab.numbers.together->count == lab.examples;
    }
    // A small classifier, paused with two saved steps.
    void open_shapes() {
        initialize_model("cpu", 1);
        OpenRequest request;
        request.config = load_preset("demo-shapes");
        request.config->model.layers = 1;
        request.config->model.dim = 16;
        request.config->train.batch = 4;
        request.config->train.steps = 1000;
        request.config->train.checkpoint_every = 2;
        request.out = (scratch_ / "shapes").string();
        make();
        ui().commands.send(OpenRun{std::move(request)});
        run("frames 2\nwait Ready\n");
        session().run().step(4);
        ASSERT_TRUE(until([&] {
            return ui().status.state == RunState::paused && session().saved_steps().size() == 2;
        }));
    }
};

TEST_F(ShownStep, TheLabOfAFollowedRunMeasuresItsNewestSavedStepAgainAndAgain) {
    initialize_model("cpu", 1);
    folder_ = scratch_ / "run";
    OpenRequest request;
    request.config = tiny_config();
    request.config->train.steps = 1000;
    request.out = folder_.string();
    TestSession owner(request);
    ASSERT_TRUE(train_to(owner, 20));
    make();
    stage_->frame().open(folder_.string());
    ASSERT_TRUE(until([&] { return ui().status.following && ui().status.saved_step == 20; }));
    ui().selection.lab.examples = 4;
    run("lab.zero_selected\nframes 3\n");
    double before = 0;
    for (const int64_t step : {20, 40, 60}) {
        if (step > 20) {
            ASSERT_TRUE(train_to(owner, step));
        }
        EXPECT_TRUE(until([&] {
            return value_of("inspector/pinned_batch/step") == std::to_string(step) &&
                   has_measured_all() && *ui().selection.lab.numbers.untouched != before;
        })) << step
            << ": " << value_of("inspector/pinned_batch/step");
        ASSERT_TRUE(ui().selection.lab.numbers.untouched);
        before = *ui().selection.lab.numbers.untouched;
        EvalRequest eval;
        eval.model = fmt::format("{}/checkpoints/step-{:08}.safetensors", folder_.string(), step);
        eval.data = ui().status.config.data.source;
        eval.index = 0;
        eval.limit = 4;
        EXPECT_NEAR(before, eval_job(eval, {}).metric_value, 2e-5) << step;
    }
}

TEST_F(ShownStep, ConfusionIsOfIt) {
    open_shapes();
    run("view.workspace_attention\nframes 6\n");
    for (const int64_t step : session().saved_steps()) {
        ui().commands.send(ShowStep{step});
        run("frames 4\nclick inspector/confusion/measure_confusion\nframes 2\n");
        const std::string words = fmt::format("part, step {}", step);
        EXPECT_TRUE(until([&] { return dump(ui()).find(words) != std::string::npos; })) << words;
    }
}

// Or a press on Measure would miss it.
TEST_F(ShownStep, ItsAnswersMoveNothingInTheInspectorOfAttention) {
    open_shapes();
    const std::string below = "inspector/confusion/measure_confusion";
    run("view.workspace_attention\nframes 2\n");
    ASSERT_TRUE(until([&] { return is_there(below); }));
    const auto top = [&] { return ui().recorder.find(below)->min.y; };
    const float before = top();
    for (const int64_t step : {int64_t{-1}, session().saved_steps().front()}) {
        ui().commands.send(ShowStep{step});
        const auto is_answered = [&] {
            EXPECT_EQ(top(), before) << "step " << step;
            return value_of("inspector/prediction/class_0").find_first_of("0123456789") !=
                   std::string::npos;
        };
        steps(1);
        EXPECT_TRUE(until(is_answered));
        steps(20);
        EXPECT_EQ(top(), before) << "step " << step;
    }
}

TEST_F(ShownStep, CompletionsAreOfIt) {
    open_trained_run();
    run("view.workspace_complete\nframes 10\n");
    ASSERT_TRUE(until([&] { return ui().selection.image.item != nullptr; }));
    CompletionChoice& choice = ui().selection.completion;
    choice.sample.samples = 1;
    std::vector<std::vector<uint8_t>> drawn;
    for (const int64_t step : session().saved_steps()) {
        ui().commands.send(ShowStep{step});
        run("frames 4\ncomplete.start\nframes 4\n");
        ASSERT_TRUE(until([&] {
            return choice.own != nullptr && choice.own->done && choice.own->step == step;
        })) << step;
        EXPECT_NE(dump(ui()).find(fmt::format("step {}", step)), std::string::npos);
        drawn.push_back(choice.own->samples.front());
    }
    ASSERT_GT(drawn.size(), 1u);
    EXPECT_NE(drawn.front(), drawn.back());
}

TEST_F(ShownStep, AnErrorNamesNoSavedStepThatIsNotThere) {
    open_trained_run(20);
    stage_.reset();
    make();
    stage_->frame().open(folder_.string());
    run("frames 2\nwait Ready\nview.workspace_train\nframes 5\n");
    EXPECT_EQ(ui().status.saved_step, 20);
    std::filesystem::remove_all(folder_);
    session().run().step(1);
    ASSERT_TRUE(until([&] { return !ui().status.error.empty(); }));
    steps(5);
    const std::string all = dump(ui());
    EXPECT_EQ(all.find("is saved and safe"), std::string::npos) << all;
    EXPECT_NE(all.find("is in memory only: save it elsewhere."), std::string::npos) << all;
    EXPECT_EQ(ui().status.saved_step, -1);
}

}  // namespace
}  // namespace aft::app

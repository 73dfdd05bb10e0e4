// The window without a renderer, for the tests of this folder: a fed status, or a real tiny run.
#pragma once
#include <cmath>
#include <memory>

#include "app/host/script.h"
#include "app/host/stage.h"
#include "model/jobs.h"
#include "tests/app/traits.h"
#include "tests/session/session_fixture.h"
#include "tests/source_file.h"

namespace aft::app {

// The run of the session tests, smaller still.
inline Config tiny_config() {
    Config config = small_run();
    config.name = "tiny";
    config.model.dim = 8;
    config.model.own["factors"] = 4;
    config.train.batch = 2;
    config.train.steps = 60;
    config.train.checkpoint_every = 20;
    return config;
}

// A status and curves as a session would give them, without one.
inline void feed_small(Ui& ui) {
    Status& s = ui.status;
    s.state = RunState::paused;
    s.name = "fed";
    s.path = "runs/fed";
    s.can_train = true;
    s.config = tiny_config();
    s.step = 40;
    s.target_step = 60;
    s.saved_step = 20;
    s.metric_words = "bits/dim";
    s.metric = 1.5;
    s.layers = {{.bias_norm = 1.0, .parameters = 10}, {.bias_norm = 2.0, .parameters = 10}};
    s.tokens = 64;
    s.grid_height = s.grid_width = 8;
    auto curves = std::make_shared<Curves>();
    for (int i = 1; i <= 40; ++i) {
        curves->step.push_back(i);
        curves->columns["loss"].push_back(1.4 / i + 0.7);
        curves->columns["validation.loss"].push_back(i % 20 == 0 ? 0.8 : std::nan(""));
        curves->columns["grad_norm"].push_back(0.5);
        curves->columns["lr"].push_back(1e-3);
        curves->columns["bias_norm.layer.0"].push_back(0.1 * i);
        curves->columns["bias_norm.layer.1"].push_back(0.2 * i);
        curves->columns["timing.step_ms"].push_back(20);
    }
    curves->events = {{20, "save", ""}, {30, "learning-rate", "train.learning_rate = 1e-3"}};
    s = with_traits(s);
    ui.curves = curves;
    ui.history = {0, 20, 40};
}

inline void feed_error(Ui& ui) {
    feed_small(ui);
    ui.status.error = "NaN in layer 1, exp(K) of head 0; the step was not applied";
}

inline FrameOptions fed(std::function<void(Ui&)> feed) {
    FrameOptions options;
    options.feed = std::move(feed);
    return options;
}

class BareTest : public ::testing::Test {
  protected:
    BareStage& make(FrameOptions options = {}, ImVec2 size = {1600, 1000}) {
        stage_.reset();  // one context of Dear ImGui at a time
        stage_ = std::make_unique<BareStage>(std::move(options), size);
        steps(3);
        return *stage_;
    }
    void steps(int count) {
        for (int i = 0; i < count; ++i) stage_->step();
    }
    Ui& ui() { return stage_->ui(); }
    Session& session() { return *stage_->frame().session(); }
    void run(const std::string& text) {
        Script script(text, "test", {.shot = {}});
        while (script.advance(stage_->frame()) && !ui().commands.is_quitting()) {
            stage_->step();
            if (ui().session != nullptr) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    }
    // What the screen says about a widget; "" if it is not there.
    std::string value_of(const std::string& id) {
        const WidgetRecord* widget = ui().recorder.find(id);
        return widget == nullptr ? "" : widget->value;
    }
    // What stands on the screen for it.
    std::string label_of(const std::string& id) {
        const WidgetRecord* widget = ui().recorder.find(id);
        return widget == nullptr ? "" : widget->path.label;
    }
    bool is_there(const std::string& id) { return ui().recorder.find(id) != nullptr; }
    // Draws frames until it is so; what the session's threads bring takes a moment.
    template <class Condition>
    bool until(const Condition& is_so, int most = 5000) {
        for (int i = 0; i < most && !is_so(); ++i) {
            steps(1);
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
        return is_so();
    }
    // The shipped mirror model.
    void open_mirror(ImVec2 size = {1600, 1000}) {
        initialize_model("cpu", 1);
        make({}, size);
        stage_->frame().open(source_file("assets/demo/mirror.safetensors").string());
        run("frames 2\nwait Ready 60\n");
    }
    // A real run of the tiny model in `folder_`.
    void open_tiny_run() {
        initialize_model("cpu", 1);
        folder_ = scratch_ / "run";
        OpenRequest request;
        request.config = tiny_config();
        request.out = folder_.string();
        ui().commands.send(OpenRun{std::move(request)});
        run("frames 2\nwait Ready 60\n");
    }
    void TearDown() override { stage_.reset(); }

    Scratch scratch_;
    std::filesystem::path folder_;
    std::unique_ptr<BareStage> stage_;
};

}  // namespace aft::app

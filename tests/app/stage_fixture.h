// The window without a renderer, for the tests of this folder: a fed status, or a real tiny run.
#pragma once
#include <memory>

#include "app/host/script.h"
#include "app/host/stage.h"
#include "model/jobs.h"
#include "tests/app/fed.h"
#include "tests/source_file.h"

namespace aft::app {

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
    void open_tiny_run(int64_t steps = 60) {
        initialize_model("cpu", 1);
        folder_ = scratch_ / "run";
        OpenRequest request;
        request.config = tiny_config();
        request.config->train.steps = steps;
        request.out = folder_.string();
        ui().commands.send(OpenRun{std::move(request)});
        run("frames 2\nwait Ready 60\n");
    }
    // In a window of its own, trained to its end.
    void open_trained_run(int64_t steps = 60) {
        make();
        open_tiny_run(steps);
        run("run.start\nwait Stopped 60\nframes 5\n");
    }
    // The answer of a probe, whose error fails the test.
    FieldSetPtr ask(const ProbeRequest& request) {
        FieldSetPtr fields;
        std::string error;
        until([&] {
            fields = ui().session->probes().ask(request, false, &error);
            return fields != nullptr || !error.empty();
        });
        EXPECT_EQ(error, "");
        return fields;
    }
    void TearDown() override { stage_.reset(); }

    Scratch scratch_;
    std::filesystem::path folder_;
    std::unique_ptr<BareStage> stage_;
};

}  // namespace aft::app

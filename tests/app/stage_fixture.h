// The window without a renderer, for the tests of this folder: a fed status, or a real tiny run.
#pragma once
#include <chrono>
#include <memory>
#include <thread>

#include "app/host/script.h"
#include "app/host/stage.h"
#include "core/clock.h"
#include "model/jobs.h"
#include "tests/app/fed.h"
#include "tests/session/wake_gate.h"
#include "tests/source_file.h"

namespace aft::app {

class BareTest : public ::testing::Test {
  protected:
    BareStage& make(FrameOptions options = {}, ImVec2 size = {1600, 1000}) {
        stage_.reset();  // one context of Dear ImGui at a time
        options.wake = [gate = gate_, wake = std::move(options.wake)] {
            wake();
            gate->wake();
        };
        stage_ = std::make_unique<BareStage>(std::move(options), size);
        steps(3);
        return *stage_;
    }
    // Draws frames. One that asks for answers which are not there yet gives the worker time for
    // one of them, so that the same number of frames is enough on a slow machine.
    void steps(int count) {
        constexpr std::chrono::milliseconds kLongest{100};
        for (int i = 0; i < count; ++i) {
            const uint64_t seen = wakes().seen();
            const int64_t missed = ui().answers_missed();
            stage_->step();
            if (ui().answers_missed() != missed) wakes().wait_beyond(seen, kLongest);
        }
    }
    Ui& ui() { return stage_->ui(); }
    Session& session() { return *stage_->frame().session(); }
    void run(const std::string& text) {
        Script script(text, "test", {.shot = {}});
        while (script.advance(stage_->frame()) && !ui().commands.is_quitting()) {
            steps(1);
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
    // Draws frames until `is_so` holds, usually by the work of other threads. After some frames
    // at the pace of a screen, which leaves the cores to those threads. Returns false at the limit.
    template <class Condition>
    bool until(const Condition& is_so, double seconds = kHangSeconds) {
        const auto start = std::chrono::steady_clock::now();
        for (int frames = 0; !is_so(); ++frames) {
            if (seconds_since(start) > seconds) return false;
            steps(1);
            std::this_thread::sleep_for(std::chrono::milliseconds(frames < 100 ? 2 : 16));
        }
        return true;
    }
    // Draws frames, with a moment for the other threads after each.
    void pass_frames(int count) {
        for (int i = 0; i < count; ++i) {
            stage_->step();
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
    }
    // The shipped mirror model.
    void open_mirror(ImVec2 size = {1600, 1000}) {
        initialize_model("cpu", 1);
        make({}, size);
        stage_->frame().open(source_file("assets/demo/mirror.safetensors").string());
        run("frames 2\nwait Ready\n");
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
        run("frames 2\nwait Ready\n");
    }
    // In a window of its own, trained to its end.
    void open_trained_run(int64_t steps = 60) {
        make();
        open_tiny_run(steps);
        run("run.start\nwait Stopped\nframes 5\n");
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
    // Behind it the threads of each session wait where a test closes it.
    std::shared_ptr<WakeGate> gate_ = std::make_shared<WakeGate>();
    std::unique_ptr<BareStage> stage_;
};

}  // namespace aft::app

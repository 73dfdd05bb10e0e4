#include "app/host/headless_run.h"

#include "app/host/frame_log.h"
#include "app/host/speech.h"
#include "app/host/take_film_frame.h"
#include "app/host/take_picture.h"

#include <chrono>
#include <thread>

#include "core/clock.h"

namespace aft::app {

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kPause = std::chrono::milliseconds(8);
constexpr auto kPauseOfTraining = std::chrono::milliseconds(60);  // drawing here takes its cores
constexpr double kReading_s = 300;  // the longest that a picture waits for what it shows

}  // namespace

ScriptRun run_script(HeadlessStage& stage, const std::string& text, const std::string& name) {
    Script script(text, name, {.shot = [&stage](const std::filesystem::path& path) {
                      write_png(path, stage.picture());
                  }});
    Speech speech;
    int64_t frames = 0;
    bool runs = true;  // the script; then what it has begun to save is finished
    for (;; ++frames) {
        runs = runs && script.advance(stage.frame()) && !stage.ui().commands.is_quitting();
        if (!runs && !stage.ui().picture.is_unfinished()) break;
        stage.step();
        if (take_due_picture(stage.ui(), gl_reader())) stage.step();  // as it was before
        take_film_frame(stage.ui(), gl_reader());
        write_dump(stage.ui());
        speech.follow(stage.ui());
        if (stage.ui().session == nullptr) continue;
        const bool is_training = stage.ui().status.state == RunState::running;
        std::this_thread::sleep_for(is_training ? kPauseOfTraining : kPause);
    }
    return {.lines = script.lines_done(), .frames = frames};
}

void settle(HeadlessStage& stage, double seconds) {
    const auto start = Clock::now();
    std::vector<uint8_t> before;
    int resting = 0;
    for (;;) {
        const double limit = is_reading(stage.ui().recorder.last()) ? kReading_s : seconds;
        if (resting >= 12 || seconds_since(start) > limit) return;
        stage.step();
        std::vector<uint8_t> now = stage.picture().pixels;
        resting = now == before && !is_reading(stage.ui().recorder.last()) ? resting + 1 : 0;
        before = std::move(now);
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
    }
}

}  // namespace aft::app

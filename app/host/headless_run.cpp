#include "app/host/headless_run.h"

#include "app/host/frame_log.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "core/clock.h"

namespace aft::app {

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kPause = std::chrono::milliseconds(8);
constexpr double kReading_s = 300;  // the longest that a picture waits for what it shows

}  // namespace

ScriptRun run_script(HeadlessStage& stage, const std::string& text, const std::string& name) {
    Script script(text, name, {.shot = [&stage](const std::filesystem::path& path) {
                      write_png(path, stage.picture());
                  }});
    int64_t frames = 0;
    for (; script.advance(stage.frame()) && !stage.ui().commands.is_quitting(); ++frames) {
        stage.step();
        write_dump(stage.ui());
        if (stage.ui().session != nullptr) std::this_thread::sleep_for(kPause);
    }
    return {.lines = script.lines_done(), .frames = frames};
}

bool is_reading(const std::vector<WidgetRecord>& widgets) {
    return std::any_of(widgets.begin(), widgets.end(), [](const WidgetRecord& w) {
        const bool has_words = w.kind == "caption" || w.kind == "progress" || w.kind == "hint";
        return (w.kind == "map" && w.value == "loading") ||
               (has_words && w.value.find("Reading ") != std::string::npos);
    });
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

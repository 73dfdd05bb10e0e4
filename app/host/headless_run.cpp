#include "app/host/headless_run.h"

#include "app/host/frame_log.h"

#include <chrono>
#include <thread>

#include "core/clock.h"

namespace aft::app {

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kPause = std::chrono::milliseconds(8);

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

void settle(HeadlessStage& stage, double seconds) {
    const auto start = Clock::now();
    std::vector<uint8_t> before;
    int resting = 0;
    while (resting < 12 && seconds_since(start) < seconds) {
        stage.step();
        std::vector<uint8_t> now = stage.picture().pixels;
        resting = now == before ? resting + 1 : 0;
        before = std::move(now);
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
    }
}

}  // namespace aft::app

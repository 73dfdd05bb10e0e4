// Driving the window without a display: scripts and settling. Main thread.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "app/host/script.h"
#include "app/host/window_headless.h"

namespace aft::app {

struct ScriptRun {
    int64_t lines = 0, frames = 0;  // performed, drawn
};

// Runs a script to its end (or `quit`), frame by frame.
ScriptRun run_script(HeadlessStage& stage, const std::string& text, const std::string& name);
// Draws until the picture rests for a moment (answers of probes are in), at most `seconds`, longer
// only while something is_reading().
void settle(HeadlessStage& stage, double seconds);

}  // namespace aft::app

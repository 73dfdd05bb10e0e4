// Guard: draws one pane so that whatever goes wrong inside it stays inside it: an exception, an
// unbalanced call, an assertion of Dear ImGui or ImPlot. Window thread.
#pragma once
#include <functional>
#include <optional>
#include <string>

namespace aft::app {

// Runs `draw` between the caller's ImGui::Begin and End. Returns what went wrong, in words; the
// stacks are then as they were before. `window_lost` tells that the pane's own window was ended by
// mistake: do not call End again.
struct Guarded {
    std::optional<std::string> problem;
    bool window_lost = false;
};
[[nodiscard]] Guarded draw_guarded(const std::function<void()>& draw);

// Once per ImGui context: mistakes are recovered from quietly instead of ending the program.
void enable_recovery();

}  // namespace aft::app

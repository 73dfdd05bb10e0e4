// The tokens before the patches of a classifier (class token, distillation token) as targets: the
// rows that classify. Window thread; returns at once.
#pragma once
#include <string>

#include "app/panels/shared/positions.h"
#include "app/state/ui.h"

namespace aft::app {

// Chooses between the patches and the tokens before them; draws nothing where there are none.
void target_token_tool(PaneContext& ui, const Positions& positions);
[[nodiscard]] float target_token_width(const Positions& positions);  // at scale 1; 0 = no tool
// What the target is: "patch", "pixel", "class token", "distillation token".
[[nodiscard]] std::string target_noun(const Positions& positions, int64_t target);

}  // namespace aft::app

// Watch over training: makes a recipe or a completion a standing experiment of the open run, which
// Watched measures at every saved step. Window thread.
#pragma once
#include <string>

#include "app/state/ui.h"

namespace aft::app {

// Why it cannot be one; "" = it can. Whether the model can do it at all is asked before.
[[nodiscard]] std::string why_not_watch(const ViewState& ui, const WatchedRecipe& one);
[[nodiscard]] std::string why_not_watch(const ViewState& ui, const WatchedCompletion& one);
// Says so in a toast, with the way to Watched; or that it is too large to be remembered.
void watch_over_training(Ui& ui, WatchedRecipe one);
void watch_over_training(Ui& ui, WatchedCompletion one);

}  // namespace aft::app

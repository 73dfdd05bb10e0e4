// The actions of the Complete workspace: run, stop, continue, tools and presets of the
// mask. Called once, by the Samples pane.
#pragma once
#include "app/state/actions.h"

namespace aft::app {

void add_completion_actions(Actions& actions);

}  // namespace aft::app

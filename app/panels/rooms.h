// The list of panels: one line each in rooms.cpp.
#pragma once
#include <vector>

#include "app/panels/panel.h"

namespace aft::app {

[[nodiscard]] const std::vector<PanelRoom>& panels();

}  // namespace aft::app

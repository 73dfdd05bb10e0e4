// The runs whose curves Train draws with those of the open run: chosen in Train, in the menu of a
// run, or by a view file. Window thread.
#pragma once
#include <string>

#include "app/state/run_notes.h"
#include "app/state/ui.h"

namespace aft::app {

[[nodiscard]] bool is_overlaid(const ViewState& ui, const std::string& run);
// Why this run cannot be added; "" = it can, or it is there already.
[[nodiscard]] std::string why_no_overlay(const ViewState& ui, const std::string& run);
// Adds it at the end, or takes it out.
void toggle_overlay(ViewState& ui, const std::string& run);

}  // namespace aft::app

// The note beside saved numbers: the view that they are of, as a view file that opens it again, and
// what one must know to repeat them: run, step of the maps, quantity, gauge, commands, tables.
// Window thread.
#pragma once
#include <span>
#include <string>

#include "app/state/ui.h"
#include "core/npz.h"

namespace aft::app {

[[nodiscard]] std::string number_note(const PaneContext& ui, const viz::NumberSink& numbers);

}  // namespace aft::app

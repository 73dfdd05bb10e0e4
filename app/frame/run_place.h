// What the window keeps of the open run in the user's settings, and how that comes back when the
// run is opened again. Window thread.
#pragma once
#include "app/state/ui.h"

namespace aft::app {

// Pins, locked cell, standing experiments, overlaid runs, the list of the Lab, the mask.
void keep_run_place(const ViewState& ui, RunNotes& notes);
// The same, and the notes at steps, which also the run folder keeps.
void restore_run_place(Ui& ui, const RunNotes& notes);

}  // namespace aft::app

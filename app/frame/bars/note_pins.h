// Notes at steps on the timeline: their pins, and the rows of the menu by which a note is added at
// any step, changed or removed. Window thread, inside a frame.
#pragma once
#include <cstdint>
#include <optional>

#include "app/frame/bars/loss_lines.h"
#include "app/state/ui.h"

namespace aft::app {

// Over the pins of events: a note is never hidden. A click goes to the stored moment, or opens the
// note where none is stored. The step whose menu is asked for by the right button.
[[nodiscard]] std::optional<int64_t> draw_note_pins(PaneContext& ui, const TimelineTrack& track);
// In an open popup. True: one of them was pressed.
bool draw_note_rows(Ui& ui, int64_t step);
// The step under the pointer, `x` pixels right of the track's left end; a stored moment or a note
// close by is meant.
[[nodiscard]] int64_t step_at(const PaneContext& ui, const TimelineTrack& track, float x);

}  // namespace aft::app

// Selection: the one selection that all panels read and write. Hover previews (hover_*), click
// locks, Esc unlocks. Indices are those of the model: -1 = none. Window thread.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/state/cell.h"
#include "app/state/change_history.h"
#include "app/state/compare_choice.h"
#include "app/state/completion_choice.h"
#include "app/state/lab_choice.h"
#include "app/state/map_display.h"
#include "app/state/pane_choice.h"
#include "app/state/run_notes.h"
#include "model/session.h"

namespace aft::app {

// The picture (or text) that Attention and Complete look at. `item` is null until it is loaded, or
// stays so because of `error`.
struct ImageChoice {
    std::string split{};  // empty until it is known: the first part that has examples
    int64_t index = 0;
    std::string path;  // a file instead of the data set, when not empty
    std::shared_ptr<const DataItem> item;
    std::string error{};
    std::string text{};          // an own one, as UTF-8, as long as the model reads; else empty
    bool is_part_empty = false;  // with an error: the data are there, this part of them is not
    // A command can take it from somewhere.
    [[nodiscard]] bool is_given() const { return !path.empty() || !split.empty() || !text.empty(); }
};

struct Selection : MapDisplay, PaneChoice {
    Cell cell;                  // locked, or last hovered
    std::optional<Cell> hover;  // under the pointer this frame; cleared at the start of each frame
    bool locked = false;        // a click locked `cell`; Esc unlocks
    int64_t step = -1;          // of all views; -1 = live
    std::vector<Pin> pins;      // the newest is last: "change since pin" compares with it
    ImageChoice image;
    CompletionChoice completion;
    CompareChoice compare;
    LabChoice lab;
    ChangeHistory changes;  // of settings in Controls, and of how maps are drawn

    // What read-outs show.
    [[nodiscard]] const Cell& shown() const { return hover ? *hover : cell; }
    void point(const Cell& at);  // hovering: previews unless locked
    void lock(const Cell& at);   // clicking
    bool unlock();               // Esc; false if nothing was locked
    void pin(int64_t step_now);
    // Keeps all indices inside the open model; called by the frame when the model changes.
    void clamp(const Status& status, int64_t heads);
};

// How maps and brush were set: what the window remembers, and takes over when it starts.
[[nodiscard]] KeptView kept_view(const Selection& selection);
void restore_view(Selection& selection, const KeptView& view);

}  // namespace aft::app

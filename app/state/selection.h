// Selection: the one selection that all panels read and write. Hover previews (hover_*), click
// locks, Esc unlocks. Indices are those of the model: -1 = none. Window thread.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/state/cell.h"
#include "app/state/compare_choice.h"
#include "app/state/completion_choice.h"
#include "app/state/lab_choice.h"
#include "app/state/pane_choice.h"
#include "app/state/run_notes.h"
#include "app/state/setting_history.h"
#include "core/images/colormap.h"
#include "model/session.h"

namespace aft::app {

enum class Quantity { w, exp_minus_one, exp, row_share };
inline constexpr Quantity kQuantities[] = {Quantity::w, Quantity::exp_minus_one, Quantity::exp,
                                           Quantity::row_share};
[[nodiscard]] const char* quantity_words(Quantity quantity);  // "exp(w)−1": on screen
// "exp-1": ProbeRequest option "quantity".
[[nodiscard]] const char* quantity_option(Quantity quantity);

enum class Gauge { fixed, raw };  // option "gauge"
[[nodiscard]] const char* gauge_option(Gauge gauge);

enum class RangeMode { own, layer, global };  // whose values the limits of a map come from

// The picture (or text) that Attention and Complete look at. `item` is null until it is loaded, or
// stays so because of `error`.
struct ImageChoice {
    std::string split{};  // empty until it is known: the first part that has examples
    int64_t index = 0;
    std::string path;  // a file instead of the data set, when not empty
    std::shared_ptr<const DataItem> item;
    std::string error{};
    bool is_part_empty = false;  // with an error: the data are there, this part of them is not
};

// How the maps of biases are drawn.
struct MapDisplay {
    Quantity quantity = Quantity::exp_minus_one;
    Gauge gauge = Gauge::fixed;
    RangeMode range_mode = RangeMode::layer;
    Scale scale = Scale::signed_log;
    double percentile = kMapPercentile;  // limits of maps; 100 = full range
    bool symmetric = true;               // low = -high for signed quantities
    std::optional<Range> range_by_hand{};
    bool difference_to_pin = false, flicker = false;
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
    SettingHistory settings;  // changed in Controls

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

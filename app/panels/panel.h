// Panel: a room of the window. One .cpp in app/panels with one exported function
//     PanelRoom NAME_panel();
// and one line in app/panels/rooms.cpp. The frame gives it a dock window (a "pane") with its tab,
// padding, empty and error handling; the panel only draws inside.
// Window thread.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "app/state/ui.h"
#include "core/rooms.h"

namespace aft::app {

// Conventions
// * Everything interactive goes through app/widgets: they record label, rectangle, value and state.
//   Labels are `Pane/Section/Name`; Section = the last section() head.
// * Names are "Shown words##id": the words may change, the id stays. Data (a file, a setting's key)
//   is its own id: WidgetName::data(path).
// * Sizes through ui.px(n), n at scale 1. Colours only from ui.theme; numbers through core/text.h.
// * No session, or nothing there yet: empty_state() with what to do next. Fields still being
//   computed: draw the old ones and progress_line(). An exception in draw() is shown in the pane.
// * Shared state between panels is ViewState::selection and nothing else; private state is the
// Panel's.
// * What a user can do (start, open, pin, export, ...) is an Action: add it in actions(), run it by
//   its id with ui.actions.run or action_button(); what the frame or the session shall do is a
//   Command. Keys are shortcuts of actions.
// * draw() is called only while the pane is visible: ask only for what is shown. Hover line at the
//   foot: canvas_height() before the canvas, hover_line() last.
// * inspector() draws sections into the Inspector while a workspace of the panel is shown; those of
//   the pane's own picture only while is_front().

// Where a pane stands in a workspace's default layout. `page` fills the whole (Home).
enum class Slot { left, right, top, canvas, below, page };

struct PanelPlace {
    Workspace workspace;
    Slot slot;
    int order = 0;                // tabs of one slot from left to right; alike: as they are listed
    const char* title = nullptr;  // "Words##id" of the pane there, if they are not the room's
    // Of the left slot: what the workspace is worked with. It comes to the front, and stays where
    // the Explorer shrinks to a rail.
    [[nodiscard]] bool leads() const { return slot == Slot::left && order < 0; }
};

class Panel {
  public:
    virtual ~Panel() = default;
    virtual void draw(Ui& ui) = 0;
    virtual void inspector(Ui&) {}     // sections for the Inspector of the panel's workspaces
    virtual void actions(Actions&) {}  // once, at the start; handlers may capture `this`
    // Those of `list figures` that draw what it shows, the likeliest first.
    [[nodiscard]] virtual std::vector<std::string> figures() const { return {}; }

    // Its pane is drawn in this frame: what it holds is of the selection. Set by the frame before
    // inspector().
    [[nodiscard]] bool is_front() const { return is_front_; }
    void set_front(bool is_front) { is_front_ = is_front; }

  private:
    bool is_front_ = false;
};

template <class Own>
std::unique_ptr<Panel> make_panel() {  // for PanelRoom::make
    return std::make_unique<Own>();
}

struct PanelRoom {
    // name = title of the pane ("Atlas"), unique; sentence for `list panels` and the tab's tooltip.
    RoomInfo info;
    std::string id;    // "atlas", unique: what commands, scripts and tests call the pane by
    const char* icon;  // for the rail of small windows
    // What one sees here and what one can do; shown by F1 for the pane. Mandatory.
    std::string help;
    std::vector<PanelPlace> places;
    std::unique_ptr<Panel> (*make)();
};

}  // namespace aft::app

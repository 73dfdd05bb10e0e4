// The window as commands use it: open_window and window_lists (app/cli/window_api.h).
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <optional>

#include "app/cli/interrupts.h"
#include "app/cli/window_api.h"
#include "app/host/window.h"
#include "app/host/window_glfw.h"
#include "app/panels/rooms.h"
#include "core/outside.h"
#include "model/system.h"

namespace aft::app {

namespace {

Frame* shown_frame = nullptr;

// The frame may be half drawn: its sessions end, nothing else does.
void end_without_display() {
    if (shown_frame == nullptr) return;
    fmt::print(stderr, "afterimage: the display is gone\n");
    for (const UnsavedSteps& unsaved : shown_frame->end_sessions())
        fmt::print(stderr, "afterimage: {}: {}\n", printable(unsaved.what()),
                   printable(unsaved.reason));
    _exit(1);
}

class SavesWithoutDisplay {
  public:
    explicit SavesWithoutDisplay(Frame& frame) {
        shown_frame = &frame;
        on_display_lost(end_without_display);
    }
    ~SavesWithoutDisplay() { shown_frame = nullptr; }
    SavesWithoutDisplay(const SavesWithoutDisplay&) = delete;
    SavesWithoutDisplay& operator=(const SavesWithoutDisplay&) = delete;
};

// A running training is saved before the window ends. Where that fails the window stays open
// once and says so: who closes it again gives these steps up.
void run_and_save(Window& window, const std::stop_token& stop) {
    std::optional<UnsavedSteps> reported;
    for (;;) {
        window.run();
        const std::optional<UnsavedSteps> unsaved = window.frame().save_session();
        if (!unsaved || stop.stop_requested() || (reported && reported->is_same(*unsaved))) break;
        window.stay_open(*unsaved);
        reported = unsaved;
    }
    fail_if_unsaved(window.frame().end_sessions());
}

}  // namespace

int open_window(const WindowRequest& request, const Globals& globals) {
    const Interrupts interrupts;
    initialize_model(globals.device, globals.threads);
    Window window({.device = globals.device, .ranks = request.ranks, .stop = interrupts.token()});
    const SavesWithoutDisplay saves_without_display(window.frame());
    if (request.run) window.frame().ui().commands.send(OpenRun{*request.run});
    for (const std::string& path : request.paths) window.frame().open(path);
    run_and_save(window, interrupts.token());
    return interrupts.token().stop_requested() ? 130 : 0;
}

std::vector<NamedList> window_lists() {
    NamedList rooms{"panels", {}}, workspaces{"workspaces", {}}, actions{"actions", {}};
    for (const PanelRoom& room : panels()) rooms.rooms.push_back(room.info);
    for (const Action& action : all_actions()) {
        actions.rooms.push_back({action.name, action.sentence});
        if (action.id.starts_with("view.workspace_"))
            workspaces.rooms.push_back(
                {action.name.substr(std::string_view("Workspace ").size()), action.sentence});
    }
    return {rooms, workspaces, actions};
}

std::map<std::string, std::string> action_ids() {
    std::map<std::string, std::string> ids;
    for (const Action& action : all_actions()) ids[action.name] = action.id;
    return ids;
}

}  // namespace aft::app

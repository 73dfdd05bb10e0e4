// The doors of the window for commands: open_window and window_lists (app/window_door.h).
#include "app/interrupts.h"
#include "app/panels/rooms.h"
#include "app/ui/window.h"
#include "app/window_door.h"

namespace aft::app {

namespace {

// A training that goes on is saved before the window's process ends: the session halts after its
// step, and its destructor waits for that.
bool save_on_close(Ui& ui) {  // -> true if there is something to wait for
    if (ui.session == nullptr) return false;
    const Status status = ui.session->status();
    const bool can_lose = status.state == RunState::running || status.state == RunState::paused;
    if (!can_lose || !status.can_train || status.step <= status.saved_step) return false;
    ui.session->stop();
    return true;
}

void wait_until_saved(Ui& ui) {
    for (int i = 0; i < 600; ++i) {
        const Status status = ui.session->status();
        const RunState state = status.state;
        if (state != RunState::running && state != RunState::paused && state != RunState::stopping)
            return;
        // It could not be saved, or was met before; the session's end tries once more.
        if (!status.error.empty()) return;
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
}

}  // namespace

int open_window(const WindowRequest& request, const Globals& globals) {
    const Interrupts interrupts;
    initialize_model(globals.device, globals.threads);
    Window window({.device = globals.device, .stop = interrupts.token()});
    if (request.run) window.frame().open_run(*request.run);
    for (const std::string& path : request.paths) window.frame().open(path);
    window.run();
    Ui& ui = window.frame().ui();
    if (save_on_close(ui)) wait_until_saved(ui);
    return interrupts.token().stop_requested() ? 130 : 0;
}

std::vector<NamedList> window_lists() {
    NamedList rooms{"panels", {}}, workspaces{"workspaces", {}}, actions{"actions", {}};
    for (const PanelRoom& room : panels()) rooms.rooms.push_back(room.info);
    for (const Action& action : all_actions()) {
        actions.rooms.push_back({action.name, action.sentence});
        const std::string prefix = "Workspace ";
        if (action.name.starts_with(prefix))
            workspaces.rooms.push_back({action.name.substr(prefix.size()), action.sentence});
    }
    return {rooms, workspaces, actions};
}

}  // namespace aft::app

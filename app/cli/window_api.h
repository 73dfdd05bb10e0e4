// The window as commands see it: window, shot and demo open it, list asks for its rooms. Exists
// only where the window is built (AFT_WINDOW=1); implemented under app/host. Main thread.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/commands/rooms.h"
#include "model/jobs/lists.h"
#include "model/session.h"

namespace aft::app {

struct WindowRequest {
    std::vector<std::string> paths;  // checkpoint, run folder, image; empty = Home
    std::optional<OpenRequest> run;  // a run to begin with (demo): workspace Train
    RankGroup* ranks = nullptr;      // other processes that share the training
};

// Opens the window and blocks until it is closed; Ctrl-C saves and closes it. Exit code. Error when
// there is no display or no OpenGL: says what is missing and what to use without a window.
int open_window(const WindowRequest& request, const Globals& globals);

// "panels", "workspaces", "actions": what `afterimage list` shows. Needs no display.
[[nodiscard]] std::vector<NamedList> window_lists();
// By the name of each action its id, which scripts may write instead.
[[nodiscard]] std::map<std::string, std::string> action_ids();

}  // namespace aft::app

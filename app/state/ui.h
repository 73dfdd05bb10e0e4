// Ui: everything a panel may see while it is drawn. Made by the frame, once; filled anew each
// frame. It is the sum of two parts, and a function takes the part that it needs: DrawContext to
// draw, `const ModelView&` to read the model, Selection, UserSettings or Commands to change them.
// Window thread. Never keep pointers into it beyond the frame; never wait in a panel.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "app/state/actions.h"
#include "app/state/commands.h"
#include "app/state/draw_context.h"
#include "app/state/selection.h"
#include "app/state/toasts.h"
#include "app/state/user_settings.h"
#include "model/session.h"

namespace aft::app {

enum class Workspace { home, train, biases, attention, complete, compare, lab };
inline constexpr Workspace kWorkspaces[] = {
    Workspace::home,     Workspace::train,   Workspace::biases, Workspace::attention,
    Workspace::complete, Workspace::compare, Workspace::lab};
[[nodiscard]] const char* workspace_name(Workspace workspace);  // "Home", "Train", ...
[[nodiscard]] const char* workspace_id(Workspace workspace);    // "home", "train", ...

class Panel;

struct LogLine {
    double time = 0;         // seconds since the start
    std::string kind, text;  // info, warning, error
};

// What is open, as it is in this frame.
struct ModelView {
    Session* session = nullptr;  // null: nothing is open. Panels then show their empty state.
    Status status;               // this frame's picture of the session (state empty when none)
    std::shared_ptr<const Curves> curves = std::make_shared<Curves>();  // never null
    std::vector<int64_t> history;  // steps that a probe can name

    [[nodiscard]] bool has_model() const {
        return status.state != RunState::empty && status.state != RunState::opening;
    }
};

struct Ui : DrawContext, ModelView {
    Selection selection;
    Commands commands;
    Actions actions;
    Toasts toasts;
    UserSettings settings;
    Workspace workspace = Workspace::home;
    std::vector<LogLine> log;
    std::vector<Panel*> shown_panels;  // of this workspace: the Inspector draws their sections
    bool headless = false;             // drawn without a display
    bool has_gl = false;               // textures can be made (false in tests without a renderer)

    void say(std::string kind, std::string text) {
        log.push_back({time, std::move(kind), std::move(text)});
    }
    [[nodiscard]] int64_t shown_step() const {
        return selection.step < 0 ? status.step : selection.step;
    }
};

}  // namespace aft::app

// Ui: everything that the window has in this frame. Made by the frame, once; filled anew each
// frame. It is built up in parts, and a function takes the part that it needs:
//   DrawContext        draws a control (app/state/draw_context.h)
//   const ModelView&   reads what is open
//   const ViewState&   reads what is open, selected and set; without const it may select
//   PaneContext&       draws that; may select and send commands
//   Ui&                also runs actions, shows toasts, writes to the log
// Window thread. Never keep pointers into it beyond the frame; never wait in a panel.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "app/state/actions.h"
#include "app/state/commands.h"
#include "app/state/draw_context.h"
#include "app/state/due_frame.h"
#include "app/state/due_picture.h"
#include "app/state/experiments.h"
#include "app/state/selection.h"
#include "app/state/toasts.h"
#include "app/state/user_settings.h"
#include "app/state/workspace.h"
#include "model/session.h"

namespace aft::app {

class Panel;

struct LogLine {
    double time = 0;         // seconds since the start
    std::string kind, text;  // info, warning, error
};

// What is open, as it is in this frame.
struct ModelView {
    // To read and to ask; what changes it is a command. Null: nothing is open. Panels then show
    // their empty state.
    const Session* session = nullptr;
    uint64_t opened = 0;  // counts the sessions: a new one may lie where an old one did
    Status status;        // this frame's picture of the session (state empty when none)
    std::shared_ptr<const Curves> curves = std::make_shared<Curves>();  // never null
    std::vector<int64_t> history;  // steps that a probe can name
    // Seconds since the last step of a run that another process trains, once they are many; else 0.
    double silent_s = 0;
    // Ids of the newest ones that these asked for; 0 = none.
    uint64_t train_completion = 0, lab_completion = 0, watched_completion = 0;

    [[nodiscard]] bool has_model() const {
        return status.state != RunState::empty && status.state != RunState::opening;
    }
    // Of the newest weights: those of a run that another process trains are its last checkpoint's.
    [[nodiscard]] int64_t weights_step() const {
        if (status.biases_step >= 0) return status.biases_step;
        return status.following && status.saved_step >= 0 ? status.saved_step : status.step;
    }
    // How often an answer was not there yet. Of the newest weights only while nothing trains: views
    // of weights that move are never all answered.
    [[nodiscard]] int64_t answers_missed() const {
        if (session == nullptr) return 0;
        const AnswersMissed missed = session->probes().missed();
        return missed.of_steps + (status.state == RunState::running ? 0 : missed.of_newest);
    }
};

// What is looked at: the model, the selection, the standing experiments, and what the user has set.
// Others than selection, experiments and overlays are changed by the frame alone (by commands), the
// settings also by their controls.
struct ViewState : ModelView {
    Selection selection;
    Experiments experiments;            // of the open run, as are:
    StepNotes step_notes;               // changed by set_step_note() alone
    std::vector<std::string> overlays;  // runs that Train draws with it (overlay_choice.h)
    UserSettings settings;
    Workspace workspace = Workspace::home;

    [[nodiscard]] int64_t shown_step() const {
        return selection.step < 0 ? status.step : selection.step;
    }
    // Of the maps, which may be behind the log (weights_step).
    [[nodiscard]] int64_t shown_weights() const {
        return selection.step < 0 ? weights_step() : selection.step;
    }
};

// To draw what is looked at, and to ask for changes.
struct PaneContext : DrawContext, ViewState {
    Commands commands;
    std::string program;      // this program's file; empty: no other process can be started
    int64_t note_asked = -1;  // a note at this step is to be written; taken by its card
    std::string file_chosen;  // what a form asked for by BrowseFiles; taken by it; "" = nothing
};

struct Ui : PaneContext {
    Actions actions;
    Toasts toasts;
    std::vector<LogLine> log;
    std::vector<Panel*> shown_panels;  // of this workspace: the Inspector draws their sections
    DuePicture picture{};
    DueFrame film_frame{};
    bool headless = false;  // drawn without a display
    bool has_gl = false;    // textures can be made (false in tests without a renderer)

    void say(std::string kind, std::string text) {
        log.push_back({time, std::move(kind), std::move(text)});
    }
};

}  // namespace aft::app

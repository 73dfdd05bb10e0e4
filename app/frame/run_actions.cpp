// Actions on the open run: start, pause, step, stop, save.
#include "app/frame/run_actions.h"

#include <fmt/format.h>

#include <imgui.h>

#include <algorithm>

#include "core/text.h"
#include "model/model_files.h"

namespace aft::app {

namespace {

std::string needs_model(const ModelView& ui) {
    return ui.has_model() ? "" : "No run is open.";
}

std::string needs_trainer(const ModelView& ui) {
    if (!ui.has_model()) return "No run is open.";
    if (ui.status.is_gone)
        return "The folder of this run is gone: put it back, or save what is in memory elsewhere.";
    if (ui.status.following) return "Another process trains this run; it is followed here.";
    if (!ui.status.task.is_trainable()) return ui.status.task.no_training + ".";
    if (!ui.status.can_train && !is_checkpoint_file(ui.status.path))
        return "The folder of this run cannot be written; it can be looked at, not trained.";
    if (!ui.status.can_train)
        return "This is a checkpoint without its data; it can be looked at, not trained.";
    if (ui.status.config.data.source.empty())
        return "No data are known for this model: File > Choose the data says where they "
               "lie.";
    return "";
}

std::string needs_rest(const ModelView& ui) {
    if (std::string why = needs_trainer(ui); !why.empty()) return why;
    if (ui.status.state == RunState::running) return "Training runs already.";
    if (ui.status.state == RunState::stopping) return "Training is stopping.";
    if (ui.status.state == RunState::error)
        return "Training stopped with an error. Start again from a saved step instead.";
    return "";
}

// After an error the same step would only fail again; one action tries it nevertheless.
std::string needs_health(const ModelView& ui) {
    if (std::string why = needs_rest(ui); !why.empty()) return why;
    return ui.status.error.empty() || ui.status.can_resume
               ? ""
               : "Training met an error: start again from a saved step, or try the step again.";
}

std::string needs_error(const ModelView& ui) {
    if (std::string why = needs_rest(ui); !why.empty()) return why;
    return ui.status.error.empty() ? "Training has met no error." : "";
}

std::string needs_saved(const ModelView& ui) {
    if (std::string why = needs_model(ui); !why.empty()) return why;
    if (ui.status.state == RunState::running) return "Training runs: pause it first.";
    if (ui.status.saved_step < 0)
        return "Nothing is saved yet: lower the learning rate and try the step again, or begin a "
               "new run.";
    return "";
}

// Going back is done in the run folder itself, which must be ours.
std::string needs_run_folder(const ModelView& ui) {
    if (std::string why = needs_trainer(ui); !why.empty()) return why;
    if (ui.status.saved_step < 0) return "Nothing is saved yet.";
    if (is_checkpoint_file(ui.status.path))
        return "This is a single checkpoint; a run folder has steps to go back to.";
    return ui.status.state == RunState::stopping ? "Training is stopping." : "";
}

std::string needs_saved_shown(const ViewState& ui) {
    if (std::string why = needs_run_folder(ui); !why.empty()) return why;
    if (ui.selection.step < 0) return "Scrub the timeline to a saved step first.";
    if (ui.session == nullptr) return "";
    const std::vector<int64_t> saved = ui.session->saved_steps();
    return std::binary_search(saved.begin(), saved.end(), ui.selection.step)
               ? ""
               : "Only the biases of this step are kept. Scrub to a saved one.";
}

// The newest step is shown where the timeline is not scrubbed.
bool is_saved_shown(const ViewState& ui) {
    return ui.selection.step < 0 && ui.status.saved_step >= 0 &&
           ui.status.saved_step == ui.status.step;
}

std::string needs_saved_to_branch(const ViewState& ui) {
    if (std::string why = needs_run_folder(ui); !why.empty()) return why;
    return is_saved_shown(ui) ? "" : needs_saved_shown(ui);
}

// The saved step that is shown, as a new run.
void branch_shown(Ui& ui) {
    const int64_t step = is_saved_shown(ui) ? ui.status.saved_step : ui.selection.step;
    ui.toasts.add({.kind = ToastKind::info,
                   .title = fmt::format("Step {} of {} becomes a new run", group_thousands(step),
                                        ui.status.name),
                   .detail = "Its folder is made when training starts; this run stays as it is."});
    ui.commands.send(OpenPath{checkpoint_file(ui.status.path, step)});
}

// The checkpoint of the newest saved step, as a new run: the broken one stays as it is.
void start_again(Ui& ui) {
    const std::string path = checkpoint_file(ui.status.path, ui.status.saved_step);
    ui.toasts.add({.kind = ToastKind::info,
                   .title = "Step " + group_thousands(ui.status.saved_step) + " becomes a new run",
                   .detail = "Lower the learning rate, then start."});
    ui.commands.send(OpenPath{path});
}

std::string needs_running(const ModelView& ui) {
    if (std::string why = needs_trainer(ui); !why.empty()) return why;
    return ui.status.state == RunState::running ? "" : "Training does not run.";
}

std::string why_no_start_or_pause(const ModelView& ui) {
    return ui.status.state == RunState::running ? needs_running(ui) : needs_health(ui);
}

std::string why_no_stop(const ModelView& ui) {
    if (std::string why = needs_trainer(ui); !why.empty()) return why;
    const RunState state = ui.status.state;
    return state == RunState::running || state == RunState::paused
               ? ""
               : "Training has not begun or has ended.";
}

std::function<void(Ui&)> sends(SessionCommand command) {
    return [command = std::move(command)](PaneContext& ui) { ui.commands.send(command); };
}

void add_step_actions(Actions& actions) {
    actions.add({.id = "run.step",
                 .name = "One step",
                 .sentence = "Trains one step, then pauses.",
                 .icon = icon::step,
                 .shortcut = ".",
                 .menu = "Run",
                 .why_not = needs_health,
                 .run = sends(TrainSteps{1})});
    actions.add({.id = "run.retry_step",
                 .name = "Try the step again",
                 .sentence = "Trains on after an error, for example with a lower learning rate. If "
                             "the weights are broken it fails again.",
                 .icon = icon::play,
                 .why_not = needs_error,
                 .run = sends(StartTraining{})});
    actions.add(
        {.id = "run.step_many",
         .name = "Run N steps",
         .sentence = "Trains as many steps as Controls says, then pauses.",
         .icon = icon::fast,
         .shortcut = "Shift+.",
         .menu = "Run",
         .why_not = needs_health,
         .run = [](PaneContext& ui) { ui.commands.send(TrainSteps{ui.settings.many_steps}); }});
}

void add_rewind_actions(Actions& actions) {
    actions.add({.id = "run.start_again",
                 .name = "Start again from the saved step",
                 .sentence = "Opens the newest checkpoint as a new run. This run stays as it is.",
                 .icon = icon::history,
                 .why_not = needs_saved,
                 .run = start_again});
    actions.add({.id = "run.rewind_saved",
                 .name = "Rewind to the saved step",
                 .sentence = "Goes back to the newest checkpoint in this run folder. What came "
                             "after is kept as a run of its own.",
                 .icon = icon::history,
                 .why_not = needs_run_folder,
                 .run = [](PaneContext& ui) { ui.commands.send(RewindTo{ui.status.saved_step}); }});
    actions.add({.id = "run.rewind_shown",
                 .name = "Rewind to the shown step",
                 .sentence = "Goes back to the saved step that the timeline shows. What came after "
                             "is kept as a run of its own.",
                 .icon = icon::history,
                 .why_not = needs_saved_shown,
                 .run = [](PaneContext& ui) { ui.commands.send(RewindTo{ui.selection.step}); }});
}

void add_aside_actions(Actions& actions) {
    actions.add({.id = "run.branch_shown",
                 .name = "Branch from the shown step",
                 .sentence = "Opens the saved step that the timeline shows as a new run. This run "
                             "stays as it is.",
                 .icon = icon::open,
                 .why_not = needs_saved_to_branch,
                 .run = branch_shown});
    actions.add({.id = "run.copy_error",
                 .name = "Copy error report",
                 .sentence = "Puts the error, the step and the settings on the clipboard.",
                 .icon = icon::copy,
                 .why_not = needs_model,
                 .run = [](Ui& ui) {
                     const std::string words =
                         fmt::format("{}\nrun {}\nstep {}\n{}\n", ui.status.error, ui.status.path,
                                     ui.status.step, ui.status.message);
                     ImGui::SetClipboardText(words.c_str());
                     ui.toasts.add({.kind = ToastKind::done, .title = "Report copied"});
                 }});
    actions.add(
        {.id = "run.copy_command",
         .name = "Copy training command",
         .sentence = "Puts the command line that resumes this run on the clipboard.",
         .icon = icon::terminal,
         .menu = "Run",
         .why_not = needs_run_folder,
         .run = [](Ui& ui) {
             const std::string words = "afterimage train --resume " + shell_word(ui.status.path);
             ImGui::SetClipboardText(words.c_str());
             ui.toasts.add({.kind = ToastKind::done, .title = "Command copied", .detail = words});
         }});
}

}  // namespace

void report_rewind(Ui& ui) {
    ui.selection.step = -1;
    Toast toast{.kind = ToastKind::done,
                .title = "Back at step " + group_thousands(ui.status.step),
                .detail = "Nothing came after it."};
    if (const std::string branch = ui.status.branch; !branch.empty()) {
        toast.detail = "What came after is kept in " + branch;
        toast.action = "Open it";
        toast.run = [branch](Ui& now) { now.commands.send(OpenPath{branch}); };
    }
    ui.toasts.add(std::move(toast));
}

void add_run_actions(Actions& actions) {
    actions.add({.id = "run.toggle",
                 .name = "Start or pause",
                 .sentence = "Starts training, or pauses it after the current step.",
                 .icon = icon::play,
                 .shortcut = "Space",
                 .menu = "Run",
                 .why_not = why_no_start_or_pause,
                 .run = [](PaneContext& ui) {
                     if (ui.status.state == RunState::running)
                         ui.commands.send(PauseTraining{});
                     else
                         ui.commands.send(StartTraining{});
                 }});
    actions.add({.id = "run.start",
                 .name = "Start training",
                 .sentence = "Trains until the target step.",
                 .icon = icon::play,
                 .why_not = needs_health,
                 .run = sends(StartTraining{})});
    actions.add({.id = "run.pause",
                 .name = "Pause training",
                 .sentence = "Halts after the current step; nothing is lost.",
                 .icon = icon::pause,
                 .why_not = needs_running,
                 .run = sends(PauseTraining{})});
    add_step_actions(actions);
    actions.add({.id = "run.stop",
                 .name = "Stop training",
                 .sentence = "Saves a checkpoint and ends this training.",
                 .icon = icon::stop,
                 .menu = "Run",
                 .why_not = why_no_stop,
                 .run = sends(StopTraining{})});
    actions.add({.id = "run.save",
                 .name = "Save checkpoint",
                 .sentence = "Writes the present step into the run folder.",
                 .icon = icon::save,
                 .shortcut = "Ctrl+S",
                 .menu = "Run",
                 .why_not = needs_trainer,
                 .run = sends(SaveCheckpoint{})});
    add_rewind_actions(actions);
    add_aside_actions(actions);
}

}  // namespace aft::app

#include "app/frame/session_host.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/frame/data_location.h"
#include "app/frame/run_actions.h"
#include "app/frame/run_place.h"
#include "app/panels/shared/own_text.h"
#include "app/state/sweep_table.h"
#include "core/caught.h"
#include "core/data_spec.h"
#include "model/model_files.h"
#include "model/system.h"

namespace aft::app {

SessionHost::SessionHost(Ui& ui, SessionPlace place, std::function<void()> wake)
    : ui_(ui), place_(std::move(place)), wake_(std::move(wake)) {}

std::optional<UnsavedSteps> SessionHost::save() {
    return open_.session ? save_before_end(open_) : std::nullopt;
}

std::vector<UnsavedSteps> SessionHost::end() {
    retire();
    for (RetiringSession& old : retiring_) old.wait();
    return take_unsaved();
}

std::vector<UnsavedSteps> SessionHost::take_unsaved() {
    std::vector<UnsavedSteps> unsaved;
    std::erase_if(retiring_, [&](const RetiringSession& old) {
        const auto end = old.end();
        if (end && end->unsaved) unsaved.push_back(*end->unsaved);
        return end != nullptr;
    });
    return unsaved;
}

// The session may need a step to end; nobody waits for it here. What it held goes back to the
// system, also from between blocks of the next one.
void SessionHost::retire() {
    keep_place();
    if (open_.session) {
        open_.session->completions().stop();
        retiring_.emplace_back(std::exchange(open_, {}), wake_);
    }
    ui_.session = nullptr;
    ui_.train_completion = ui_.lab_completion = ui_.watched_completion = 0;
    ui_.selection.image = {};
    forget_completions(ui_.selection.completion);
    ui_.selection.changes = {};  // undo never reaches into another run
    ui_.selection.lab.history = {};
    shown_ = {};
    view_.reset();
}

void SessionHost::report_unsaved() {
    for (const UnsavedSteps& steps : take_unsaved()) {
        ui_.toasts.add({.kind = ToastKind::error, .title = steps.what(), .detail = steps.reason});
        ui_.say("error", steps.what() + ": " + steps.reason);
    }
}

void SessionHost::close() {
    retire();
    ui_.status = {};
    ui_.step_notes.clear();
    ui_.overlays.clear();
    ui_.curves = std::make_shared<Curves>();
    ui_.history.clear();
}

namespace {

// What each command to the session does.
struct Apply {
    Session& session;
    Ui& ui;

    void operator()(const StartTraining&) const { session.run().start(); }
    void operator()(const PauseTraining&) const { session.run().pause(); }
    void operator()(const TrainSteps& command) const { session.run().step(command.count); }
    void operator()(const TrainUntil& command) const { session.run().run_until(command.step); }
    void operator()(const StopTraining&) const { session.run().stop(); }
    void operator()(const SaveCheckpoint&) const { session.run().save(); }
    void operator()(const SaveCopy& command) const {
        session.run().save(command.path, command.ticket);
    }
    void operator()(const KeepCheckpoint& command) const { session.run().keep(command.step); }
    void operator()(const RewindTo& command) const {
        session.run().rewind(command.step);
        ui.selection.step = -1;
    }
    void operator()(const SetSetting& command) const {
        session.run().set(command.key, command.value);
    }
    void operator()(const SetTrainerShare& command) const {
        session.pace().set_share(command.share);
    }
    void operator()(StartCompletion& command) const {
        id_of(command.owner) = session.completions().start(std::move(command.request));
    }
    void operator()(const StopCompletion&) const {
        ui.selection.completion.batch.is_running = false;
        session.completions().stop();
    }

    // Where the id of its newest one is kept.
    [[nodiscard]] uint64_t& id_of(CompletionOwner owner) const {
        switch (owner) {
            case CompletionOwner::batch:
                return ui.selection.completion.batch.asked_id;
            case CompletionOwner::train:
                return ui.train_completion;
            case CompletionOwner::lab:
                return ui.lab_completion;
            case CompletionOwner::watched:
                return ui.watched_completion;
            case CompletionOwner::complete:
                break;
        }
        return ui.selection.completion.own_id;
    }
};

}  // namespace

void SessionHost::apply(SessionCommand command) {
    if (!open_.session) return;
    if (std::holds_alternative<StopTraining>(command)) shown_.is_stop_asked = true;
    std::visit(Apply{*open_.session, ui_}, command);
}

void SessionHost::replace(OpenRequest request) {
    retire();
    awaited_.clear();
    ui_.selection.step = -1;
    ui_.selection.unlock();
    ui_.selection.pins.clear();
    ui_.experiments = {};
    ui_.step_notes.clear();
    ui_.overlays.clear();
    request.device = place_.device;
    request.ranks = place_.ranks;
    open_.published = std::make_shared<Publications>();
    open_.session =
        std::make_unique<Session>(std::move(request), [published = open_.published, wake = wake_] {
            published->add();
            wake();
        });
    ui_.session = open_.session.get();
    ++ui_.opened;
    open_.session->pace().set_share(ui_.settings.trainer_share);
}

// Home shows it, beside whatever is open.
static void show_sweep(Ui& ui, const std::string& folder) {
    ui.selection.sweep = {.folder = whole_path(folder), .opening = ui.selection.sweep.opening + 1};
    ui.settings.remember(sweep_item(folder));
    ui.workspace = Workspace::home;
    ui.want_frames(3);
}

void SessionHost::open(const std::vector<std::string>& paths) {
    std::vector<std::pair<std::string, Opening>> found;
    for (const std::string& path : paths)
        if (is_sweep_folder(path))
            show_sweep(ui_, path);
        else
            found.emplace_back(path, classify_path(path, true));
    // A picture that comes with a model is for it; of several models the first is opened, and
    // compared with the others.
    const auto rest = std::stable_partition(found.begin(), found.end(), [](const auto& one) {
        return one.second.kind == Opening::model;
    });
    std::vector<std::string> others;
    for (auto it = found.begin(); it < rest; ++it)
        if (it != found.begin()) others.push_back(it->first);
    if (!others.empty()) found.erase(found.begin() + 1, rest);
    for (const std::string& path : others) ui_.settings.remember(recent_item(path));
    for (const auto& [path, opening] : found) open_one(path, opening);
    if (!others.empty()) set_beside(others);
}

void SessionHost::set_beside(const std::vector<std::string>& paths) {
    CompareChoice& compare = ui_.selection.compare;
    compare = {};
    (void)compare.add({});
    std::string left_out;
    for (const std::string& path : paths)
        if (!compare.add({.path = path})) left_out += (left_out.empty() ? "" : ", ") + path;
    ui_.workspace = Workspace::compare;
    if (left_out.empty()) return;
    ui_.toasts.add({.kind = ToastKind::warning,
                    .title = "Four models are compared at most",
                    .detail = "Left out: " + left_out});
    ui_.say("warning", "four models are compared at most; left out: " + left_out);
}

// It was open before.
static bool is_known_run(const UserSettings& settings, const std::string& path) {
    return std::any_of(settings.recent.begin(), settings.recent.end(),
                       [&](const RecentItem& item) { return is_same_path(item.path, path); });
}

void SessionHost::open_one(const std::string& path, Opening opening) {
    if (opening.kind == Opening::picture) opening = classify_path(path, ui_.session != nullptr);
    switch (opening.kind) {
        case Opening::picture:
            ui_.selection.image = {
                .split = "", .index = 0, .path = path, .item = nullptr, .error = {}};
            if (ui_.workspace != Workspace::attention) ui_.workspace = Workspace::complete;
            break;
        case Opening::model:
            replace({.path = path, .config = {}, .out = {}});
            ui_.settings.remember(recent_item(path));
            if (ui_.workspace == Workspace::home) ui_.workspace = opening.workspace;
            break;
        case Opening::view:
            open_view(path);
            break;
        case Opening::recipe:
            ui_.selection.lab.file = path;
            (void)ui_.actions.run(ui_, "lab.open_recipe");
            break;
        case Opening::impossible:
            if (opening.may_come && is_known_run(ui_.settings, path)) {
                opening.words = path +
                                " is gone: it was deleted or moved; open it where it is "
                                "now, or remove it from the list";
            } else if (opening.may_come && ui_.session == nullptr) {
                awaited_ = path;
                ui_.toasts.add({.kind = ToastKind::info,
                                .title = "Waiting for a run",
                                .detail = path + " is not there yet; it opens when it begins."});
                ui_.say("info", path + " is not there yet; it opens when it begins");
                break;
            }
            ui_.toasts.add(
                {.kind = ToastKind::error, .title = kNotOpened, .detail = opening.words});
            ui_.say("error", opening.words);
            break;
    }
    ui_.want_frames(3);
}

// Its model is opened first; the rest follows when it is known what that is.
void SessionHost::open_view(const std::string& path) {
    SavedView view;
    std::string problem = error_words([&] { view = read_view_file(path); }, plain_words);
    Opening model;
    if (problem.empty()) {
        model = classify_path(view.model, false);
        if (model.kind != Opening::model)
            problem = path + ": its model: " +
                      (model.words.empty() ? view.model + " is no model" : model.words);
    }
    if (!problem.empty()) return open_one(path, {.words = std::move(problem)});
    open_one(view.model, model);
    view_ = std::move(view);
}

void SessionHost::keep_place() {
    if (!shown_.kept_as.empty()) keep_run_place(ui_, ui_.settings.notes[shown_.kept_as]);
}

// What keep_place() kept when this run was open last.
void SessionHost::restore_place() {
    const auto found = ui_.settings.notes.find(shown_.kept_as);
    restore_run_place(ui_, found == ui_.settings.notes.end() ? RunNotes{} : found->second);
}

// Once per session and place, when it is known what was opened or begun: training a file makes a
// run of it.
void SessionHost::remember_open() {
    if (shown_.path == ui_.status.path || !ui_.has_model()) return;
    const bool is_first = shown_.path.empty();  // else a file that has become a run: as it is
    shown_.path = ui_.status.path;
    RecentItem item = recent_item(ui_.status.path);
    shown_.kept_as = item.path;
    if (is_first) restore_place();
    if (view_) show_view(ui_, *std::exchange(view_, {}));
    const Config& config = ui_.status.config;
    const TaskTraits& task = ui_.status.task;
    item.what = fmt::format("{}, {}, {} layers",
                            task.is_bias_alone           ? "position biases alone"
                            : task.is_mixer_alone        ? "mixer alone"
                            : config.data.source.empty() ? "data unknown"
                                                         : split_data_spec(config.data.source).room,
                            config.model.mixer, config.model.layers);
    ui_.settings.remember(std::move(item));
}

// Twice a second, until it or another model is open.
void SessionHost::look_for_awaited() {
    if (awaited_.empty()) return;
    if (is_run_folder(awaited_) && classify_path(awaited_, false).kind == Opening::model)
        return open({std::exchange(awaited_, {})});
    constexpr double kBetweenLooks = 0.5;
    ui_.want_frame_at(ui_.time + kBetweenLooks);
}

void SessionHost::poll() {
    if (ui_.session == nullptr) look_for_awaited();
    if (ui_.session == nullptr) return;
    ui_.status = ui_.session->status();
    ui_.status.name = model_name(ui_.status);
    if (auto curves = ui_.session->curves()) ui_.curves = std::move(curves);
    ui_.history = ui_.session->history_steps();
    take_completions(ui_);
    remember_open();
    keep_place();
}

namespace {

// NaN or infinity in the weights that were opened: which, and how many.
void report_not_finite(Ui& ui) {
    const std::vector<std::string>& names = ui.status.not_finite;
    if (names.empty()) return;
    std::string words = names.size() == 1 ? fmt::format("{}.", names.front())
                                          : fmt::format("{} tensors, the first is {}.",
                                                        names.size(), names.front());
    words += " What is computed with them is no number; an earlier step may be sound.";
    ui.say("error", fmt::format("NaN or infinity in the weights: {}", words));
    ui.toasts.add({.kind = ToastKind::error,
                   .title = "NaN or infinity in the weights",
                   .detail = std::move(words)});
}

}  // namespace

// The run of another process says it in its own way. A stop that the user asked for is no news.
void SessionHost::note_end() {
    const Status& status = ui_.status;
    const RunState before = std::exchange(shown_.state, status.state);
    if (status.state == RunState::running) shown_.is_stop_asked = false;
    const bool was_open = before != RunState::empty && before != RunState::opening;
    if (!was_open || before == status.state || status.state != RunState::stopped) return;
    if (shown_.is_stop_asked || shown_.was_following || status.following) return;
    std::string end = status.message;
    if (end.empty()) end = fmt::format("step {} is saved", status.saved_step);
    ui_.toasts.add({.kind = ToastKind::done, .title = status.name + " has ended", .detail = end});
}

void SessionHost::note_changes() {
    const Status& status = ui_.status;
    note_end();
    if (!status.error.empty() && status.error != shown_.error) {
        ui_.toasts.add({.kind = ToastKind::error, .title = status.error});
        ui_.say("error", status.error);
    }
    if (!status.message.empty() && status.message != shown_.message)
        ui_.say("info", status.message);
    if (status.not_finite != shown_.not_finite) {
        shown_.not_finite = status.not_finite;
        report_not_finite(ui_);
    }
    if (std::exchange(shown_.was_following, status.following) && !status.following &&
        status.state == RunState::stopped)
        ui_.toasts.add({.kind = ToastKind::info,
                        .title = status.name + " is not trained any more",
                        .detail = status.message});
    const bool is_news = std::exchange(shown_.was_gone, status.is_gone) != status.is_gone;
    if (is_news && status.error.empty())  // an error says it itself
        ui_.toasts.add({.kind = status.is_gone ? ToastKind::error : ToastKind::info,
                        .title = status.name + (status.is_gone ? ": its folder is gone"
                                                               : ": its folder is there again"),
                        .detail = status.message});
    if (status.rewinds > std::exchange(shown_.rewinds, status.rewinds)) report_rewind(ui_);
    shown_.error = status.error;
    shown_.message = status.message;
    if (ui_.has_model()) ui_.selection.clamp(status, std::max<int64_t>(1, status.mixer.heads));
    ui_.selection.hover.reset();
    report_unsaved();
}

void SessionHost::load_image() {
    ImageChoice& image = ui_.selection.image;
    const Session* const session = ui_.session;
    const TaskTraits& task = ui_.status.task;  // of a mixer alone no data are the input
    if (session == nullptr || image.item || !ui_.has_model() || task.is_mixer_alone) return;
    if (task.is_text() && !image.text.empty()) return load_own_text(ui_);
    ItemError error;
    image.item = image.path.empty() ? session->items().example(image.split, image.index, &error)
                                    : session->items().picture(image.path, &error);
    image.error = error.words;
    image.is_part_empty = error.is_part_empty;
    if (image.item && image.split.empty()) image.split = image.item->split;
    if (image.error.empty() || !image.path.empty()) return;
    const std::string was = std::exchange(shown_.missing_data, ui_.status.config.data.source);
    if (was != shown_.missing_data) (void)use_remembered_data(ui_);
}

}  // namespace aft::app

#include "app/frame/cards/copy_card.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "app/frame/cards/overlays.h"
#include "app/widgets/buttons.h"
#include "app/widgets/text.h"
#include "app/widgets/text_fields.h"
#include "core/outside.h"
#include "model/model_files.h"

namespace aft::app {

namespace fs = std::filesystem;

namespace {

std::string why_no_copy(const ModelView& ui) {
    if (ui.session == nullptr || !ui.has_model()) return "No run is open.";
    if (ui.status.following) return "Another process trains this run: its weights are not here.";
    return ui.status.state == RunState::opening ? "The model is being opened." : "";
}

// With the ending that a checkpoint has.
std::string checkpoint_of(const std::string& typed) {
    std::error_code ignored;
    fs::path file = fs::absolute(typed, ignored);
    if (file.extension() != ".safetensors") file += ".safetensors";
    return file.string();
}

}  // namespace

void CopyCard::open(const ViewState& ui) {
    is_open_ = is_new_ = true;
    const fs::path run = fs::path(ui.status.path).lexically_normal();
    const fs::path last = run.has_filename() ? run : run.parent_path();
    const std::string name =
        (is_checkpoint_file(last.string()) ? last.stem() : last.filename()).string();
    const fs::path folder = proposed_folder(file_, ui.settings.last_folder);
    file_ = (folder / fmt::format("{}-step-{}.safetensors", name, ui.weights_step())).string();
}

void CopyCard::draw_fields(Ui& ui) {
    const TextEdit edit = text_field(ui,
                                     {.name = "File##file",
                                      .hint = "checkpoint to write: .safetensors",
                                      .focus = std::exchange(is_new_, false),
                                      .mono = true,
                                      .tip = "Where the checkpoint is written; folders that are "
                                             "not there are made."},
                                     file_);
    hint(ui,
         "The weights and the state of training as they are in memory now. Opened, it is a new "
         "run that trains on; curves and older steps do not come with it.");
    to_card_foot(ui);
    const CardAnswer answer = save_buttons(
        ui, {.why_not = why_not(ui), .tip = "Writes it.", .is_submitted = edit.is_submitted});
    if (answer == CardAnswer::cancel) is_open_ = false;
    if (answer != CardAnswer::save) return;
    is_open_ = false;
    is_waiting_ = true;
    file_ = sent_ = checkpoint_of(file_);
    opened_ = ui.opened;
    ui.commands.send(SaveCopy{.path = sent_, .ticket = ++ticket_});
}

std::string CopyCard::why_not(const ViewState& ui) const {
    if (std::string why = why_no_copy(ui); !why.empty()) return why;
    if (is_waiting_) return "The copy before is still being written.";
    if (file_.empty()) return "Type the file to write.";
    std::error_code ignored;
    const std::string file = checkpoint_of(file_);
    return fs::exists(file, ignored) ? printable(file) + " is there already: choose another name."
                                     : "";
}

void CopyCard::report(Ui& ui) {
    if (!is_waiting_) return;
    const CopyAnswer& answer = ui.status.copy;
    const bool is_answered = ui.opened == opened_ && answer.ticket == ticket_;
    if (!is_answered && ui.opened == opened_ && ui.session != nullptr)
        return ui.want_frame_at(ui.time + 0.1);
    is_waiting_ = false;
    const std::string problem =
        is_answered ? answer.problem
                    : "The run was closed before it was known whether " + sent_ + " is written.";
    if (!problem.empty()) {
        ui.toasts.add({.kind = ToastKind::error, .title = "Copy not saved", .detail = problem});
        return ui.say("error", "copy not saved: " + problem);
    }
    ui.toasts.add({.kind = ToastKind::done,
                   .title = "Copy saved",
                   .detail = sent_,
                   .action = "Open it",
                   .run = [file = sent_](Ui& now) { now.commands.send(OpenPath{file}); }});
}

void CopyCard::draw(Ui& ui, ImVec2 display) {
    if (!is_open_) return;
    const CardScope card(ui, display, {"Copy card", "Save elsewhere", {760, 184}});
    if (card.is_left()) is_open_ = false;
    draw_fields(ui);
}

void add_copy_actions(Actions& actions, CopyCard& card) {
    actions.add({.id = "run.save_copy",
                 .name = "Save elsewhere...",
                 .sentence = "Writes the present weights and the state of training as a checkpoint "
                             "outside the run, also where the run folder is gone.",
                 .icon = icon::save,
                 .menu = "Run",
                 .why_not = why_no_copy,
                 .run = [&card](ViewState& ui) { card.open(ui); }});
}

}  // namespace aft::app

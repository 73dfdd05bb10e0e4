#include "app/frame/cards/copy_card.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string_view>
#include <utility>

#include "app/frame/cards/overlays.h"
#include "app/widgets/buttons.h"
#include "app/widgets/text.h"
#include "app/widgets/text_fields.h"
#include "core/text.h"
#include "model/model_files.h"

namespace aft::app {

namespace fs = std::filesystem;

namespace {

std::string why_no_copy(const ModelView& ui) {
    if (ui.session == nullptr || !ui.has_model()) return "No run is open.";
    if (ui.status.following) return "Another process trains this run: its weights are not here.";
    return ui.status.state == RunState::opening ? "The model is being opened." : "";
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
    std::string why = why_no_copy(ui);
    if (why.empty() && file_.empty()) why = "Type the file to write.";
    const CardAnswer answer =
        save_buttons(ui, {.why_not = why, .tip = "Writes it.", .is_submitted = edit.is_submitted});
    if (answer == CardAnswer::cancel) is_open_ = false;
    if (answer != CardAnswer::save) return;
    is_open_ = false;
    is_waiting_ = true;
    std::error_code ignored;
    fs::path file = fs::absolute(file_, ignored);
    if (file.extension() != ".safetensors") file += ".safetensors";
    file_ = file.string();
    before_ = ui.status.message;
    sent_ = ui.time;
    ui.commands.send(SaveCopy{file_});
}

void CopyCard::report(Ui& ui) {
    if (!is_waiting_) return;
    const std::string_view message = ui.status.message, refused = kCopyRefused;
    constexpr double kSame_s = 2;  // the words may be those of the copy before
    if (message == before_ && ui.time < sent_ + kSame_s) return ui.want_frame_at(ui.time + 0.1);
    const bool is_done = message == kCopySaved + file_;
    if (!is_done && !message.starts_with(refused)) return;
    is_waiting_ = false;
    if (!is_done) {
        const std::string why(message.substr(refused.size()));
        ui.toasts.add({.kind = ToastKind::error, .title = "Copy not saved", .detail = why});
        return ui.say("error", ui.status.message);
    }
    ui.toasts.add({.kind = ToastKind::done,
                   .title = "Copy saved",
                   .detail = file_,
                   .action = "Open it",
                   .run = [file = file_](Ui& now) { now.commands.send(OpenPath{file}); }});
    ui.say("info", ui.status.message);
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

#include "app/frame/cards/mask_card.h"

#include <filesystem>
#include <utility>

#include "app/frame/cards/overlays.h"
#include "app/widgets/buttons.h"
#include "app/widgets/text.h"
#include "app/widgets/text_fields.h"
#include "core/caught.h"
#include "core/files.h"
#include "core/images/image.h"
#include "model/jobs/complete.h"
#include "model/system.h"

namespace aft::app {

namespace {

std::string why_no_mask_file(const ViewState& ui) {
    if (ui.workspace != Workspace::complete) return "The mask is in the Complete workspace.";
    if (!ui.has_model() || ui.session == nullptr) return "No model is open.";
    const bool has_mask = ui.status.task.is_autoregressive && !ui.status.task.is_text();
    if (!has_mask) return "Only models of pictures have a mask.";
    return ui.selection.completion.mask.mask().empty() ? "The mask is not there yet." : "";
}

}  // namespace

void MaskCard::open(const ViewState& ui) {
    is_open_ = is_new_ = true;
    problem_.clear();
    if (!file_.empty()) return;
    file_ = (proposed_folder("", ui.settings.last_folder) / "mask.png").string();
}

void MaskCard::load(Ui& ui) {
    const ModelConfig& model = ui.status.config.model;
    std::vector<uint8_t> mask;
    problem_ = error_words([&] { mask = read_mask(file_, model); }, plain_words);
    if (!problem_.empty()) return;
    viz::replace_mask(ui.selection.completion.mask, mask);
    is_open_ = false;
    ui.toasts.add({.kind = ToastKind::done, .title = "Mask loaded", .detail = file_});
}

void MaskCard::save(Ui& ui) {
    const CompletionChoice& choice = ui.selection.completion;
    fs::path file = file_;
    if (lower_ending(file) != ".png") file += ".png";
    problem_ = error_words(
        [&] {
            check_writable(file);
            write_png(file, mask_picture(choice));
        },
        plain_words);
    if (!problem_.empty()) return;
    is_open_ = false;
    file_ = file.string();
    ui.toasts.add({.kind = ToastKind::done, .title = "Mask saved", .detail = file_});
}

void MaskCard::draw_answer(Ui& ui, bool is_submitted) {
    const std::string why = file_.empty() ? "Type the file." : "";
    if (button(ui, {.name = "Load##load",
                    .icon = icon::folder,
                    .why_not = why,
                    .tip = "Takes the mask from a picture of the model's size: what is not black "
                           "is to be filled in. One undo step.",
                    .width = 96,
                    .height = 32}) ||
        (is_submitted && why.empty()))
        load(ui);
    ImGui::SameLine();
    const CardAnswer answer =
        save_buttons(ui, {.why_not = why, .tip = "Writes the mask as a black and white PNG."});
    if (answer == CardAnswer::cancel) is_open_ = false;
    if (answer == CardAnswer::save) save(ui);
}

void MaskCard::draw(Ui& ui, ImVec2 display) {
    if (!is_open_) return;
    if (!why_no_mask_file(ui).empty()) {  // the model is gone
        is_open_ = false;
        return;
    }
    const CardScope card(ui, display, {"Mask card", "Mask as a picture", {640, 210}});
    if (card.is_left()) is_open_ = false;
    const TextEdit edit = text_field(ui,
                                     {.name = "File##file",
                                      .hint = "picture to read or write",
                                      .focus = std::exchange(is_new_, false),
                                      .mono = true,
                                      .tip = "A picture of the model's size."},
                                     file_);
    if (edit) problem_.clear();
    if (problem_.empty())
        hint(ui, "Not black: to be filled in, as afterimage complete --mask FILE reads it.");
    else
        draw_problem(ui, problem_);
    to_card_foot(ui);
    draw_answer(ui, edit.is_submitted);
}

void add_mask_actions(Actions& actions, MaskCard& card) {
    actions.add({.id = "mask.file",
                 .name = "Load or save mask...",
                 .sentence = "Reads the mask from a picture, or writes it as one.",
                 .icon = icon::folder,
                 .why_not = why_no_mask_file,
                 .run = [&card](ViewState& ui) { card.open(ui); }});
}

}  // namespace aft::app

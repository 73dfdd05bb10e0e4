#include "app/frame/cards/note_card.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/frame/cards/overlays.h"
#include "app/state/step_notes.h"
#include "app/widgets/buttons.h"
#include "app/widgets/fields.h"
#include "app/widgets/text.h"
#include "app/widgets/text_fields.h"
#include "core/outside.h"
#include "model/model_files.h"

namespace aft::app {

void NoteCard::open(const ViewState& ui, int64_t step) {
    is_open_ = is_new_ = true;
    step_ = read_step_ = std::clamp<int64_t>(step, 0, std::max<int64_t>(0, ui.status.step));
    take_note(ui);
}

void NoteCard::take_note(const ViewState& ui) {
    const auto found = ui.step_notes.find(step_);
    text_ = read_ = found == ui.step_notes.end() ? "" : found->second;
}

// Another step brings its note, where it has one; what was typed stays.
void NoteCard::draw_fields(Ui& ui) {
    NumberField step{.name = "Step##step",
                     .min = 0,
                     .max = static_cast<double>(std::max<int64_t>(0, ui.status.step))};
    step.integer = true;
    step.prefix = "step";
    step.width = 200;
    step.tip = "Where the note stands on the timeline; a moment need not be stored there.";
    (void)drag_field(ui, step, step_);
    if (std::exchange(read_step_, step_) != step_ && text_ == read_ &&
        ui.step_notes.contains(step_))
        take_note(ui);
}

void NoteCard::draw_answer(Ui& ui, bool is_submitted) {
    to_card_foot(ui);
    const float top = ImGui::GetCursorPosY();
    ImGui::SetCursorPosY(top + ui.px(3));  // in the middle of the others' height
    const bool has_note = ui.step_notes.contains(step_);
    if (button(ui, {.name = "Remove note##remove",
                    .icon = icon::trash,
                    .kind = ButtonKind::ghost,
                    .why_not = has_note ? "" : "No note stands at this step.",
                    .tip = "Takes it off the timeline; Undo brings it back."})) {
        set_step_note(ui, step_, "");
        is_open_ = false;
    }
    ImGui::SetCursorPosY(top);
    const CardAnswer answer = save_buttons(ui, {.why_not = why_no_step_note(ui, step_, text_),
                                                .tip = "Keeps the note at this step.",
                                                .is_submitted = is_submitted});
    if (answer == CardAnswer::cancel) is_open_ = false;
    if (answer != CardAnswer::save) return;
    set_step_note(ui, step_, text_);
    is_open_ = false;
}

void NoteCard::draw(Ui& ui, ImVec2 display) {
    const int64_t asked = std::exchange(ui.note_asked, -1);
    if (asked >= 0 && ui.has_model()) open(ui, asked);
    if (!is_open_) return;
    const CardScope card(ui, display, {"Note card", "Note at a step", {560, 200}});
    if (card.is_left() || !ui.has_model()) is_open_ = false;
    draw_fields(ui);
    const TextEdit edit = text_field(ui,
                                     {.name = "Note##note",
                                      .hint = "what is to be known of this step",
                                      .focus = std::exchange(is_new_, false),
                                      .tip = "Shown where the pointer is over its pin, and in the "
                                             "Log."},
                                     text_);
    const auto there = ui.step_notes.find(step_);
    const bool replaces = there != ui.step_notes.end() && there->second != text_;
    hint(ui, replaces ? "Takes the place of the note there: " + printable_line(there->second)
             : is_checkpoint_file(ui.status.path)
                 ? "Kept in your settings."
                 : "Kept in notes.json of the run folder, or in your settings where it cannot be "
                   "written.");
    draw_answer(ui, edit.is_submitted);
}

}  // namespace aft::app

#include "app/panels/shared/path_row.h"

#include "app/widgets/buttons.h"
#include "app/widgets/text.h"
#include "app/widgets/text_fields.h"

namespace aft::app {
namespace {

constexpr float kIndent = 6, kButton = 80;  // pixels at scale 1

}  // namespace

bool PathRow::draw(DrawContext& ui, const PathWords& words,
                   const std::function<std::string(const std::string&)>& take) {
    ImGui::Dummy({ui.px(4), ui.px(4)});
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + ui.px(kIndent));
    const float left = ImGui::GetCursorPosX();
    const TextEdit edit = text_field(ui,
                                     {.name = words.field,
                                      .hint = words.hint,
                                      .icon = words.icon,
                                      .width = words.width,
                                      .problem = problem_,
                                      .tip = words.tip},
                                     path_);
    if (edit.is_changed) problem_.clear();
    ImGui::SameLine(0, ui.px(kIndent));
    const bool is_asked = button(ui, {.name = words.button,
                                      .why_not = path_.empty() ? "Type a path first." : "",
                                      .tip = words.button_tip,
                                      .shown = words.shown});
    bool is_taken = false;
    if ((is_asked || edit.is_submitted) && !path_.empty()) {
        problem_ = take(path_);
        is_taken = problem_.empty();
    }
    if (problem_.empty()) return is_taken;
    ImGui::SetCursorPosX(left);
    ImGui::PushTextWrapPos(left + ui.px(words.width + kButton));
    text(ui, problem_, {text_size::hint, ui.theme.error});
    ImGui::PopTextWrapPos();
    ui.recorder.item("hint", ui.recorder.claim(words.problem), problem_);
    return is_taken;
}

}  // namespace aft::app

#include "app/widgets/text_fields.h"

#include <imgui_internal.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "app/widgets/number_text.h"
#include "app/widgets/tooltip.h"

namespace aft::app {

namespace {

int grow(ImGuiInputTextCallbackData* data) {
    if (data->EventFlag != ImGuiInputTextFlags_CallbackResize) return 0;
    auto* text = static_cast<std::string*>(data->UserData);
    text->resize(static_cast<size_t>(data->BufTextLen));
    data->Buf = text->data();
    return 0;
}

}  // namespace

bool input_text(DrawContext& ui, const char* id, std::string& text, const InputLook& look) {
    const FontScope font(ui.fonts, look.is_mono ? Face::mono : Face::regular,
                         look.is_mono ? text_size::label : text_size::body);
    const float size = ui.px(look.is_mono ? text_size::label : text_size::body);
    const float pad = std::max(0.0f, (ui.px(look.height) - size) / 2);
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(ui.px(look.is_plain ? 0 : 10), pad));
    ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize,
                        look.is_wrong ? ui.px(1.5f) : ImGui::GetStyle().FrameBorderSize);
    ImGui::PushStyleColor(ImGuiCol_Border, look.is_wrong ? ui.theme.error : ui.theme.line);
    ImGui::PushStyleColor(ImGuiCol_TextDisabled, ui.theme.text3);
    if (look.is_plain) {
        ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, 0.0f);
        for (const int c : {ImGuiCol_FrameBg, ImGuiCol_FrameBgHovered, ImGuiCol_FrameBgActive})
            ImGui::PushStyleColor(c, 0);
    }
    ImGui::SetNextItemWidth(look.width);
    const ImGuiInputTextFlags flags = ImGuiInputTextFlags_CallbackResize |
                                      ImGuiInputTextFlags_EnterReturnsTrue |
                                      ImGuiInputTextFlags_AutoSelectAll;
    const std::string hidden = std::string("##") + id;  // the label is recorded, not drawn
    // A field that has the keyboard keeps its own copy: it must take over what was set from
    // outside.
    if (look.is_set)
        if (ImGuiInputTextState* state = ImGui::GetInputTextState(ImGui::GetID(hidden.c_str())))
            state->ReloadUserBufAndMoveToEnd();
    const bool entered = ImGui::InputTextWithHint(hidden.c_str(), look.hint, text.data(),
                                                  text.capacity() + 1, flags, grow, &text);
    ImGui::PopStyleColor(look.is_plain ? 5 : 2);
    ImGui::PopStyleVar(look.is_plain ? 3 : 2);
    return entered;
}

TextEdit text_field(DrawContext& ui, const TextField& spec, std::string& text) {
    const WidgetPath path = ui.recorder.claim(spec.name);
    const std::string before = text;
    const auto words = ui.recorder.scripted.take(path);
    if (words) text = *words;
    const float width = spec.width > 0 ? ui.px(spec.width) : ImGui::GetContentRegionAvail().x;
    const bool has_icon = *spec.icon != 0;
    const ImVec2 a = ImGui::GetCursorScreenPos();
    const ImVec2 b(a.x + width, a.y + ui.px(spec.height));
    if (has_icon) {
        ImDrawList* draw = ImGui::GetWindowDrawList();
        draw->AddRectFilled(a, b, ui.theme.field, ui.px(4));
        if (ui.theme.is_outlined()) draw->AddRect(a, b, ui.theme.line, ui.px(4));
        icon_at(ui, {a.x + ui.px(15), (a.y + b.y) / 2}, spec.icon,
                {text_size::icon_inline, ui.theme.text3});
        ImGui::SetCursorScreenPos({a.x + ui.px(28), a.y});
    }
    if (spec.focus) ImGui::SetKeyboardFocusHere();
    ImGui::BeginDisabled(!spec.why_not.empty());
    const bool is_submitted = input_text(ui, path.id.c_str(), text,
                                         {.width = has_icon ? width - ui.px(34) : width,
                                          .height = spec.height,
                                          .is_wrong = !spec.problem.empty(),
                                          .is_plain = has_icon,
                                          .is_mono = spec.mono,
                                          .is_set = words.has_value(),
                                          .hint = spec.hint.c_str()});
    ImGui::EndDisabled();
    ui.recorder.item("text", path, text, spec.why_not);
    const std::string& sentence = spec.why_not.empty() ? spec.tip : spec.why_not;
    if (!sentence.empty()) tooltip(ui, {.name = spec.name.words, .sentence = sentence});
    return {text != before, is_submitted};
}

}  // namespace aft::app

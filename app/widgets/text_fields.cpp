// Text fields of widgets.h, and the control for one visit() row.
#include <imgui_internal.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "app/widgets/input_text.h"
#include "app/widgets/number_text.h"
#include "app/widgets/parts.h"
#include "app/widgets/widgets.h"

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

bool text_field(DrawContext& ui, const TextField& spec, std::string& text) {
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
    ui.submitted = input_text(ui, path.id.c_str(), text,
                              {.width = has_icon ? width - ui.px(34) : width,
                               .height = spec.height,
                               .is_wrong = !spec.problem.empty(),
                               .is_plain = has_icon,
                               .is_mono = spec.mono,
                               .is_set = words.has_value(),
                               .hint = spec.hint.c_str()});
    ImGui::EndDisabled();
    ui.recorder.item("text", path, text, spec.why_not);
    if (!spec.why_not.empty()) tooltip(ui, {.name = spec.name.words, .sentence = spec.why_not});
    return text != before;
}

bool text_submitted(const DrawContext& ui) {
    return ui.submitted;
}

namespace {

std::optional<std::string> choice_field(DrawContext& ui, const Setting& row,
                                        const std::string& why_not) {
    const std::string now = value_text(row);
    const auto found = std::find(row.choices.begin(), row.choices.end(), now);
    int chosen = found == row.choices.end() ? -1 : static_cast<int>(found - row.choices.begin());
    if (!combo(ui, row.key, chosen, {row.choices, 0, why_not})) return std::nullopt;
    return row.choices[static_cast<size_t>(chosen)];
}

std::optional<std::string> number_field(DrawContext& ui, const Setting& row,
                                        const std::string& standard, const std::string& why_not) {
    NumberField field{.name = row.key, .min = row.min, .max = row.max};
    field.integer = std::holds_alternative<int64_t*>(row.value);
    field.unit = row.unit;
    field.why_not = why_not;
    field.tip = row.help;
    field.on_release = true;
    std::string ignored;
    if (const auto value = parse_number({.name = ""}, standard, ignored)) field.standard = *value;
    double value = field.integer ? static_cast<double>(*std::get<int64_t*>(row.value))
                                 : *std::get<double*>(row.value);
    field.logarithmic = !field.integer && value > 0 && value < 0.05;
    if (!drag_field(ui, field, value)) return std::nullopt;
    return typed_number(field, value);
}

}  // namespace

std::optional<std::string> setting_field(DrawContext& ui, const Setting& row,
                                         const std::string& standard, std::string why_not) {
    if (std::holds_alternative<bool*>(row.value)) {
        bool on = *std::get<bool*>(row.value);
        if (!toggle(ui, row.key, on, {{}, why_not})) return std::nullopt;
        return on ? "true" : "false";
    }
    if (!std::holds_alternative<std::string*>(row.value))
        return number_field(ui, row, standard, why_not);
    if (!row.choices.empty()) return choice_field(ui, row, why_not);
    std::string text = *std::get<std::string*>(row.value);
    if (!text_field(ui, {.name = row.key, .why_not = why_not}, text)) return std::nullopt;
    return text;
}

std::string setting_label(std::string_view key, bool is_narrow) {
    std::string words(key.substr(key.find('.') + 1));
    std::replace(words.begin(), words.end(), '_', ' ');
    const size_t rate = words.find(" learning rate");
    if (is_narrow && rate != std::string::npos) words.replace(rate, 14, " rate");
    if (!words.empty())
        words[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(words[0])));
    return words;
}

}  // namespace aft::app

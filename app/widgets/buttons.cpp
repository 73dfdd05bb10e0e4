#include "app/widgets/buttons.h"

#include <fmt/format.h>
#include <imgui_internal.h>

#include <algorithm>

#include "app/widgets/tooltip.h"
#include "core/check.h"

namespace aft::app {

namespace {

struct ButtonColors {
    ImU32 ground, hover, pressed, ink;
};

ButtonColors button_colors(const Theme& t, const Button& spec) {
    const ImU32 clear = 0;
    if (spec.kind == ButtonKind::icon && spec.selected)
        return {t.selected, t.selected, t.selected, t.accent};
    switch (spec.kind) {
        case ButtonKind::primary:
            return {t.fill, t.fill_hover, t.fill_pressed, t.ink};
        case ButtonKind::normal:
            return {t.field, t.field_hover, t.field_pressed, t.text1};
        case ButtonKind::ghost:
            return {clear, t.field, t.field_pressed, t.text2};
        case ButtonKind::icon:
            return {clear, t.field, t.field_pressed, t.text2};
        case ButtonKind::danger:
            return {mix(t.raised, t.error, 0.2f), mix(t.raised, t.error, 0.3f),
                    mix(t.raised, t.error, 0.4f), t.text1};
    }
    return {t.field, t.field_hover, t.field_pressed, t.text1};
}

struct ButtonLayout {
    std::string words, key;
    float icon = 0, text = 0, key_width = 0, width = 0, height = 0;
};

ButtonLayout layout_button(const DrawContext& ui, const Button& spec) {
    ButtonLayout l;
    l.height = ui.px(spec.height);
    if (spec.kind == ButtonKind::icon) {
        l.width = ui.px(std::max(26.0f, spec.width));
        return l;
    }
    l.words = spec.shown.empty() ? spec.name.words : spec.shown;
    l.key = shortcut_words(spec.shortcut);
    l.icon = *spec.icon != 0 ? ui.px(text_size::icon) : 0;
    l.text = text_extent(ui, l.words, text_size::body, Face::medium).x;
    l.key_width = l.key.empty() ? 0 : text_extent(ui, l.key, text_size::label).x + ui.px(8);
    const float gap = l.icon > 0 && !l.words.empty() ? ui.px(6) : 0;
    const float needed =
        l.icon + gap + l.text + l.key_width + 2 * ui.px(spec.height > 28 ? 12 : 10);
    l.width = spec.width > 0 ? ui.px(spec.width) : needed;
    if (spec.width > 0 && needed > l.width) l.key_width = 0, l.key.clear();
    return l;
}

void draw_button(const DrawContext& ui, const Button& spec, const ButtonLayout& l,
                 const ButtonColors& c) {
    const ImVec2 a = ImGui::GetItemRectMin(), b = ImGui::GetItemRectMax();
    const bool off = !spec.why_not.empty();
    const bool hot = ImGui::IsItemHovered() && !off, down = ImGui::IsItemActive() && !off;
    ImDrawList* draw = ImGui::GetWindowDrawList();
    ImU32 ground = down ? c.pressed : hot ? c.hover : c.ground;
    if (off && (ground >> IM_COL32_A_SHIFT) != 0) ground = with_alpha(ui.theme.field, 0.55f);
    if ((ground >> IM_COL32_A_SHIFT) != 0) draw->AddRectFilled(a, b, ground, ui.px(4));
    if (ui.theme.is_outlined() && spec.kind != ButtonKind::ghost && spec.kind != ButtonKind::icon)
        draw->AddRect(a, b, off ? with_alpha(ui.theme.line, 0.65f) : ui.theme.line, ui.px(4));
    const ImU32 ink = off ? with_alpha(ui.theme.text3, 0.65f) : c.ink;
    const ImVec2 middle((a.x + b.x) / 2, (a.y + b.y) / 2);
    if (spec.kind == ButtonKind::icon) {
        icon_at(ui, middle, spec.icon,
                {spec.height > 28 ? 20.0f : 18.0f, hot ? ui.theme.text1 : ink});
        return;
    }
    const float gap = l.icon > 0 ? ui.px(6) : 0;
    float x = middle.x - (l.icon + gap + l.text + l.key_width) / 2;
    if (l.icon > 0) icon_at(ui, {x + l.icon / 2, middle.y}, spec.icon, {text_size::icon, ink});
    x += l.icon + gap;
    const float y = middle.y - ui.px(text_size::body) / 2;
    text_at(ui, {x, y}, l.words, {text_size::body, ink, Face::medium, b.x - x - ui.px(4)});
    if (l.key_width > 0) {
        const ImU32 key_ink =
            spec.kind == ButtonKind::primary ? with_alpha(c.ink, 0.75f) : ui.theme.text3;
        text_at(ui, {x + l.text + ui.px(8), middle.y - ui.px(text_size::label) / 2}, l.key,
                {text_size::label, off ? with_alpha(key_ink, 0.5f) : key_ink});
    }
}

}  // namespace

bool button(DrawContext& ui, const Button& spec) {
    const WidgetPath path = ui.recorder.claim(spec.name);
    const ButtonLayout l = layout_button(ui, spec);
    const bool pressed =
        ImGui::InvisibleButton(path.id.c_str(), {l.width, l.height}, ImGuiButtonFlags_EnableNav);
    draw_button(ui, spec, l, button_colors(ui.theme, spec));
    ui.recorder.item("button", path, spec.selected ? "on" : l.words, spec.why_not);
    const std::string& words = spec.why_not.empty() ? spec.tip : spec.why_not;
    if (!words.empty() || spec.kind == ButtonKind::icon)
        tooltip(ui, {.name = spec.name.words, .key = spec.shortcut, .sentence = words});
    return pressed && spec.why_not.empty();
}

float button_width(const DrawContext& ui, const Button& spec) {
    return layout_button(ui, spec).width;
}

namespace {

Button action_spec(const Ui& ui, std::string_view action, ButtonKind kind, std::string shown) {
    const Action* found = ui.actions.find(action);
    AFT_CHECK(found != nullptr, "there is no action '{}'", action);
    Button spec{.name = {found->name, found->id}, .icon = found->icon, .kind = kind};
    spec.why_not = ui.actions.why_not(ui, action);
    spec.tip = found->sentence;
    spec.shown = std::move(shown);
    spec.shortcut = found->shortcut;
    spec.selected = kind == ButtonKind::icon && found->is_on && found->is_on(ui);
    return spec;
}

}  // namespace

float action_button_width(const Ui& ui, std::string_view action, ButtonKind kind) {
    return button_width(ui, action_spec(ui, action, kind, {}));
}

bool action_button(Ui& ui, std::string_view action, ButtonKind kind, std::string shown) {
    const bool is_pressed = button(ui, action_spec(ui, action, kind, std::move(shown)));
    ui.recorder.runs_action(std::string(action));
    return is_pressed && ui.actions.run(ui, action);
}

namespace {

void draw_segment(const DrawContext& ui, const Choice& choice, bool chosen) {
    const ImVec2 a = ImGui::GetItemRectMin(), b = ImGui::GetItemRectMax();
    ImDrawList* draw = ImGui::GetWindowDrawList();
    const bool off = !choice.why_not.empty();
    const float in = ui.px(2);
    if (chosen) {
        const bool is_light = ui.theme.name == ThemeName::light;
        draw->AddRectFilled({a.x + in, a.y + in}, {b.x - in, b.y - in},
                            is_light ? ui.theme.pane : ui.theme.field_pressed, ui.px(4));
        if (is_light || ui.theme.is_outlined())
            draw->AddRect({a.x + in, a.y + in}, {b.x - in, b.y - in},
                          is_light ? ui.theme.strong : ui.theme.accent, ui.px(4), 0,
                          ui.theme.is_outlined() ? ui.px(2) : 1);
    } else if (ImGui::IsItemHovered() && !off) {
        draw->AddRectFilled({a.x + in, a.y + in}, {b.x - in, b.y - in}, ui.theme.field_hover,
                            ui.px(4));
    }
    const Face face = chosen ? Face::medium : Face::regular;
    const ImU32 ink =
        off ? with_alpha(ui.theme.text3, 0.65f) : (chosen ? ui.theme.text1 : ui.theme.text2);
    const float available = std::max(1.0f, b.x - a.x - 2 * in);
    const float width =
        std::min(available, text_extent(ui, choice.text.words, text_size::body, face).x);
    text_at(ui, {(a.x + b.x - width) / 2, (a.y + b.y - ui.px(text_size::body)) / 2},
            choice.text.words, {text_size::body, ink, face, available});
}

// A script's choice by its words; false if there is none such.
bool choose_by_words(DrawContext& ui, const std::string& words, std::span<const Choice> choices,
                     int& chosen) {
    std::string allowed;
    for (size_t i = 0; i < choices.size(); ++i) {
        allowed += (i == 0 ? "" : ", ") + choices[i].text.words;
        if (choices[i].text.words != words && choices[i].text.id != words) continue;
        if (!choices[i].why_not.empty()) {
            ui.recorder.scripted.refuse(choices[i].why_not);
            return false;
        }
        chosen = static_cast<int>(i);
        return true;
    }
    ui.recorder.scripted.refuse(fmt::format("allowed: {}; found '{}'", allowed, words));
    return false;
}

// One that has no sentence of its own takes that of all, under their name.
void explain_choice(DrawContext& ui, const WidgetName& name, const Choice& choice,
                    const std::string& of_all) {
    if (!choice.why_not.empty())
        tooltip(ui, {.name = choice.text.words, .sentence = choice.why_not});
    else if (!choice.tip.empty())
        tooltip(ui, {.name = choice.text.words, .formula = choice.formula, .sentence = choice.tip});
    else if (!of_all.empty())
        tooltip(ui, {.name = name.words, .sentence = of_all});
}

}  // namespace

bool segmented(DrawContext& ui, const WidgetName& name, int& chosen, const Choices& spec) {
    const std::span<const Choice> choices = spec.list;
    const float width = spec.width;
    const WidgetPath path = ui.recorder.claim(name);
    bool changed = false;
    if (const auto words = ui.recorder.scripted.take(path))
        changed = choose_by_words(ui, *words, choices, chosen);
    const float height = ui.px(26), pad = ui.px(11);
    std::vector<float> widths;
    float total = 0;
    for (const Choice& choice : choices) {
        widths.push_back(text_extent(ui, choice.text.words, text_size::body, Face::medium).x +
                         2 * pad);
        total += widths.back();
    }
    const float wanted = width > 0   ? ui.px(width)
                         : width < 0 ? ImGui::GetContentRegionAvail().x
                                     : total;
    for (float& w : widths) w = std::floor(w * wanted / total);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImDrawList* draw = ImGui::GetWindowDrawList();
    draw->AddRectFilled(at, {at.x + wanted, at.y + height}, ui.theme.field, ui.px(4));
    if (ui.theme.is_outlined())
        draw->AddRect(at, {at.x + wanted, at.y + height}, ui.theme.line, ui.px(4));
    const float top = ImGui::GetCursorScreenPos().y;
    ImGui::BeginGroup();
    for (size_t i = 0; i < choices.size(); ++i) {
        if (i > 0) {
            // The line may have begun higher than the first of them.
            ImGui::SameLine(0, 0);
            ImGui::SetCursorScreenPos({ImGui::GetCursorScreenPos().x, top});
        }
        const WidgetPath part = ui.recorder.claim(name.choice(choices[i].text));
        const bool pressed = ImGui::InvisibleButton(part.id.c_str(), {widths[i], height},
                                                    ImGuiButtonFlags_EnableNav);
        draw_segment(ui, choices[i], static_cast<int>(i) == chosen);
        ui.recorder.item("segment", part, static_cast<int>(i) == chosen ? "on" : "off",
                         choices[i].why_not);
        explain_choice(ui, name, choices[i], spec.tip);
        if (!pressed || !choices[i].why_not.empty() || static_cast<int>(i) == chosen) continue;
        chosen = static_cast<int>(i);
        changed = true;
    }
    ImGui::EndGroup();
    ui.recorder.item("choice", path,
                     chosen >= 0 && chosen < static_cast<int>(choices.size())
                         ? choices[static_cast<size_t>(chosen)].text.words
                         : "");
    return changed;
}

bool toggle(DrawContext& ui, const WidgetName& name, bool& on, const ToggleLook& look) {
    const auto& [words, why_not, tip] = look;
    const WidgetPath path = ui.recorder.claim(name);
    const bool off = !why_not.empty();
    bool changed = false;
    if (const auto set = ui.recorder.scripted.take(path)) {
        if (*set != "on" && *set != "off")
            ui.recorder.scripted.refuse(fmt::format("allowed: on, off; found '{}'", *set));
        else if (off)
            ui.recorder.scripted.refuse(why_not);
        else
            changed = on != (*set == "on"), on = *set == "on";
    }
    const ImVec2 size(ui.px(30), ui.px(26));
    if (ImGui::InvisibleButton(path.id.c_str(), size, ImGuiButtonFlags_EnableNav) && !off) {
        on = !on;
        changed = true;
    }
    const ImVec2 a = ImGui::GetItemRectMin();
    const float width = ui.px(28), height = ui.px(16), top = a.y + (size.y - height) / 2;
    const Theme& t = ui.theme;
    const ImU32 track = on ? t.fill : t.track;
    const float dim = off ? 0.45f : 1.0f;
    ImDrawList* draw = ImGui::GetWindowDrawList();
    draw->AddRectFilled({a.x, top}, {a.x + width, top + height}, with_alpha(track, dim),
                        height / 2);
    if (t.is_outlined()) draw->AddRect({a.x, top}, {a.x + width, top + height}, t.line, height / 2);
    const float knob = on ? a.x + width - height / 2 : a.x + height / 2;
    draw->AddCircleFilled({knob, top + height / 2}, ui.px(6), with_alpha(on ? t.ink : t.knob, dim));
    ui.recorder.item("switch", path, on ? "on" : "off", why_not);
    if (off || !tip.empty()) tooltip(ui, {.name = name.words, .sentence = off ? why_not : tip});
    if (!words.empty()) {
        ImGui::SameLine(0, ui.px(6));
        const ImVec2 at = ImGui::GetCursorScreenPos();
        const float available = std::max(1.0f, ImGui::GetContentRegionAvail().x);
        text_at(ui, {at.x, at.y + (size.y - ui.px(text_size::label)) / 2}, words,
                {text_size::label, off ? with_alpha(t.text3, 0.65f) : t.text2, Face::regular,
                 available});
        ImGui::Dummy({std::min(available, text_extent(ui, words, text_size::label).x), size.y});
    }
    return changed;
}

}  // namespace aft::app

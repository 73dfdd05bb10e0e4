#include "app/widgets/fields.h"

#include <imgui_internal.h>

#include <algorithm>
#include <cmath>

#include "app/widgets/number_text.h"
#include "app/widgets/text_fields.h"
#include "app/widgets/tooltip.h"
#include "core/check.h"
#include "core/text.h"

namespace aft::app {

namespace {

double clamped(const NumberField& f, double value) {
    if (f.integer) value = std::round(value);
    return std::clamp(value, f.min, f.max);
}

double dragged(const NumberField& f, double start, double pixels) {
    if (ImGui::GetIO().KeyShift) pixels *= 0.1;
    if (f.logarithmic && start > 0) return start * std::exp(pixels * 0.01);
    double speed = f.drag_speed;
    if (speed <= 0 && std::isfinite(f.max - f.min)) speed = (f.max - f.min) / 300;
    if (speed <= 0) speed = std::max(std::abs(start), f.integer ? 20.0 : 0.01) / 200;
    return start + pixels * speed;
}

bool differs(const NumberField& f, double value) {
    return !std::isnan(f.standard) && std::abs(value - f.standard) > 1e-12 * std::abs(f.standard);
}

struct FieldBox {
    ImVec2 min, max;
};

void draw_field(const DrawContext& ui, const NumberField& f, FieldBox box, double value) {
    const Theme& t = ui.theme;
    const bool off = !f.why_not.empty() || f.locked;
    const bool hot = ImGui::IsItemHovered() && !off, down = ImGui::IsItemActive() && !off;
    ImDrawList* draw = ImGui::GetWindowDrawList();
    const ImU32 ground = off ? with_alpha(t.field, 0.55f)
                             : (down ? t.field_pressed : (hot ? t.field_hover : t.field));
    draw->AddRectFilled(box.min, box.max, ground, ui.px(4));
    if (t.is_outlined()) draw->AddRect(box.min, box.max, t.line, ui.px(4));
    if (differs(f, value))
        draw->AddRectFilled(box.min, {box.min.x + ui.px(2), box.max.y}, t.accent);
    const bool dim = !f.why_not.empty();
    const ImU32 ink = dim ? with_alpha(t.text3, 0.65f) : t.text1;
    const float middle = (box.min.y + box.max.y) / 2;
    float right = box.max.x - ui.px(10);
    if (f.locked) {
        icon_at(ui, {right - ui.px(6), middle}, icon::lock, {text_size::icon_inline, t.text3});
        right -= ui.px(18);
    }
    const float name =
        f.prefix.empty() ? 0 : text_extent(ui, f.prefix, text_size::label).x + ui.px(12);
    const float inside = right - box.min.x - ui.px(4);
    std::string digits = shown_number(f, value);
    // Beside a lock the name matters more than the last digits.
    if (f.locked && text_extent(ui, digits, text_size::body).x + name > inside)
        digits = significant(value, 2);
    const float available = inside - text_extent(ui, digits, text_size::body).x;
    const std::string words = counted_unit(f.unit, digits == "1");
    float unit = words.empty() ? 0 : text_extent(ui, words, text_size::hint).x + ui.px(5);
    // Where a long number leaves space for one of them, the name stays.
    if (name + unit > available && name <= available) unit = name > 0 ? 0 : unit;
    if (unit > 0 && unit <= available) {
        const float y = middle - ui.px(text_size::hint) / 2;
        text_right(ui, {right, y}, words, {text_size::hint, dim ? ink : t.text3});
        right -= unit;
    }
    text_right(ui, {right, middle - ui.px(text_size::body) / 2}, digits, {text_size::body, ink});
    if (name > 0 && name <= available - unit)
        text_at(ui, {box.min.x + ui.px(10), middle - ui.px(text_size::label) / 2}, f.prefix,
                {text_size::label, dim ? ink : t.text3});
}

// The same field while it is typed into. True once, with the value, when Enter took it.
bool type_into(DrawContext& ui, const NumberField& f, const WidgetPath& path, double& value) {
    const float width = f.width > 0 ? ui.px(f.width) : ImGui::GetContentRegionAvail().x;
    FieldEdit& edit = ui.edit;
    const bool bad = !edit.error.empty();
    if (edit.take_focus) ImGui::SetKeyboardFocusHere();
    ImGui::BeginGroup();  // what follows on the same line stays beside the field, not its error
    const bool entered =
        input_text(ui, (path.id + " typing").c_str(), edit.text, {.width = width, .is_wrong = bad});
    const bool lost = !edit.take_focus && ImGui::IsItemDeactivated();
    edit.take_focus = false;
    if (ImGui::IsItemActive())
        ui.recorder.item("value", {path.label + " typing", path.id + "_typing", path.has_id},
                         edit.text);
    ui.recorder.item("field", path, edit.text, "");
    if (bad) {
        const ImVec2 at = ImGui::GetCursorScreenPos();
        text_at(ui, {at.x, at.y + ui.px(2)}, edit.error, {text_size::hint, ui.theme.error});
        ImGui::Dummy({width, ui.px(16)});
    }
    ImGui::EndGroup();
    if (ImGui::IsKeyPressed(ImGuiKey_Escape)) {
        edit = {};
        return false;
    }
    if (!entered && !lost) return false;
    if (edit.text == edit.opened) {  // nothing was typed: every digit stays
        edit = {};
        return false;
    }
    std::string error;
    const auto parsed = parse_number(f, edit.text, error);
    if (!parsed) {
        edit.error = error;  // the text stays, with what is allowed
        edit.take_focus = entered;
        return false;
    }
    const bool changed = *parsed != value;
    value = *parsed;
    edit = {};
    return changed;
}

// Follows a drag; `value` changes at once, or only at the end when the field says so.
bool follow_drag(DrawContext& ui, const NumberField& f, const std::string& id, double& value) {
    FieldEdit& edit = ui.edit;
    if (edit.typing) return false;  // another field, which takes what was typed there first
    if (ImGui::IsItemActivated()) edit = {.id = id, .start = value, .value = value};
    if (edit.id != id) return false;
    if (ImGui::IsItemActive()) {
        const float pixels = ImGui::GetMouseDragDelta(ImGuiMouseButton_Left, ui.px(3)).x / ui.scale;
        edit.value = pixels == 0 ? edit.start : clamped(f, dragged(f, edit.start, pixels));
    }
    const bool ended = ImGui::IsItemDeactivated();
    const double now = edit.value;
    if (ended) edit = {};
    if (f.on_release && !ended) return false;
    const bool changed = now != value;
    value = now;
    return changed;
}

bool set_by_script(DrawContext& ui, const NumberField& f, const WidgetPath& path, double& value) {
    const auto words = ui.recorder.scripted.take(path);
    if (!words) return false;
    std::string error = f.why_not;
    if (f.locked) error = "the value is fixed";
    const auto parsed = error.empty() ? parse_number(f, *words, error) : std::nullopt;
    if (!parsed) {
        ui.recorder.scripted.refuse(error);
        return false;
    }
    const bool changed = *parsed != value;
    value = *parsed;
    return changed;
}

void explain(DrawContext& ui, const NumberField& f) {
    const std::string& words = f.why_not.empty() ? f.tip : f.why_not;
    if (!words.empty())
        tooltip(ui, {.name = f.name.words,
                     .formula = f.why_not.empty() ? f.formula : std::string(),
                     .sentence = words});
}

}  // namespace

bool drag_field(DrawContext& ui, const NumberField& f, double& value) {
    const WidgetPath path = ui.recorder.claim(f.name);
    bool changed = set_by_script(ui, f, path, value);
    const float width = f.width > 0 ? ui.px(f.width) : ImGui::GetContentRegionAvail().x;
    if (ui.edit.typing && ui.edit.id == path.id) return type_into(ui, f, path, value) || changed;
    const bool off = !f.why_not.empty() || f.locked;
    const bool pressed =
        ImGui::InvisibleButton(path.id.c_str(), {width, ui.px(26)}, ImGuiButtonFlags_EnableNav);
    // Released where it was pressed: a click, not a drag.
    const float moved = ImGui::GetIO().MouseDragMaxDistanceSqr[ImGuiMouseButton_Left];
    const bool type = !off && pressed && (moved < ui.px(3) * ui.px(3) || ImGui::GetIO().NavVisible);
    if (!off) changed = follow_drag(ui, f, path.id, value) || changed;
    if (ImGui::IsItemHovered() && !off) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
    const bool dragging = ui.edit.id == path.id && ImGui::IsItemActive();
    const double shown = dragging ? ui.edit.value : value;
    draw_field(ui, f, {ImGui::GetItemRectMin(), ImGui::GetItemRectMax()}, shown);
    ui.recorder.item("field", path, typed_number(f, shown), f.locked ? "fixed" : f.why_not);
    explain(ui, f);
    if (type)
        ui.edit = {.id = path.id,
                   .text = typed_number(f, value),
                   .error = {},
                   .opened = typed_number(f, value),
                   .typing = true,
                   .take_focus = true};
    return changed;
}

bool drag_field(DrawContext& ui, const NumberField& spec, int64_t& value) {
    NumberField f = spec;
    f.integer = true;
    auto number = static_cast<double>(value);
    if (!drag_field(ui, f, number)) return false;
    value = std::llround(number);
    return true;
}

namespace {

double to_track(const NumberField& f, double v) {
    if (f.logarithmic && f.min > 0) return std::log(v / f.min) / std::log(f.max / f.min);
    return (v - f.min) / (f.max - f.min);
}

double from_track(const NumberField& f, double x) {
    x = std::clamp(x, 0.0, 1.0);
    if (f.logarithmic && f.min > 0) return clamped(f, f.min * std::pow(f.max / f.min, x));
    return clamped(f, f.min + x * (f.max - f.min));
}

void draw_slider(const DrawContext& ui, const NumberField& f, FieldBox box, double value) {
    const Theme& t = ui.theme;
    const float knob = ui.px(6), y = std::round((box.min.y + box.max.y) / 2), half = ui.px(2);
    const float left = box.min.x + knob, right = box.max.x - knob;
    const auto place = [&](double v) {
        return left + static_cast<float>(std::clamp(to_track(f, v), 0.0, 1.0)) * (right - left);
    };
    const float dim = f.why_not.empty() ? 1.0f : 0.45f;
    ImDrawList* draw = ImGui::GetWindowDrawList();
    draw->AddRectFilled({box.min.x, y - half}, {box.max.x, y + half},
                        with_alpha(t.field_pressed, dim), half);
    draw->AddRectFilled({box.min.x, y - half}, {place(value), y + half}, with_alpha(t.accent, dim),
                        half);
    if (!std::isnan(f.standard)) {
        const float x = std::round(place(f.standard));
        draw->AddRectFilled({x, y - ui.px(5)}, {x + 1, y + ui.px(5)}, with_alpha(t.text3, dim));
    }
    draw->AddCircleFilled({place(value), y}, knob, with_alpha(t.text1, dim));
}

}  // namespace

bool slider(DrawContext& ui, const NumberField& spec, double& value) {
    NumberField f = spec;
    f.name = spec.name.with(" slider", "_slider");
    AFT_ASSERT(std::isfinite(f.min) && std::isfinite(f.max));
    const WidgetPath path = ui.recorder.claim(f.name);
    const float field = ui.px(56);
    const float width = f.width > 0 ? ui.px(f.width) : ImGui::GetContentRegionAvail().x;
    const float track = std::max(ui.px(24), width - field - ui.px(8));
    ImGui::InvisibleButton(path.id.c_str(), {track, ui.px(26)});  // the keyboard has its field
    const FieldBox box{ImGui::GetItemRectMin(), ImGui::GetItemRectMax()};
    bool changed = false;
    if (ImGui::IsItemActive() && f.why_not.empty()) {
        const float knob = ui.px(6);
        const double x =
            (ImGui::GetIO().MousePos.x - box.min.x - knob) / static_cast<double>(track - 2 * knob);
        const double now = from_track(f, x);
        changed = now != value;
        value = now;
    }
    draw_slider(ui, f, box, value);
    ui.recorder.item("slider", path, typed_number(f, value), f.why_not);
    explain(ui, spec);
    ImGui::SameLine(0, ui.px(8));
    NumberField number = spec;
    number.width = 56;
    return drag_field(ui, number, value) || changed;
}

bool slider(DrawContext& ui, const NumberField& spec, int64_t& value) {
    NumberField f = spec;
    f.integer = true;
    auto number = static_cast<double>(value);
    if (!slider(ui, f, number)) return false;
    value = std::llround(number);
    return true;
}

}  // namespace aft::app

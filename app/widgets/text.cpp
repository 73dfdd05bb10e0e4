#include "app/widgets/text.h"

#include <fmt/format.h>

#include <imgui_internal.h>

#include <algorithm>

#include "app/widgets/tooltip.h"
#include "core/outside.h"

namespace aft::app {

void text(const DrawContext& ui, std::string_view words, const TextStyle& style) {
    const FontScope font(ui.fonts, style.face, style.size);
    ImGui::PushStyleColor(ImGuiCol_Text, style.color);
    const PrintableText safe(words);
    ImGui::TextUnformatted(safe.begin(), safe.end());
    ImGui::PopStyleColor();
}

void text_wrapped(const DrawContext& ui, std::string_view words, float size, ImU32 color) {
    ImGui::PushTextWrapPos(0);
    text(ui, words, {size, color});
    ImGui::PopTextWrapPos();
}

void hairline(const DrawContext& ui) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x, pad = ImGui::GetStyle().WindowPadding.x;
    const float y = std::round(at.y + ui.px(6));
    ImGui::GetWindowDrawList()->AddRectFilled({at.x - pad, y}, {at.x + width + pad, y + 1},
                                              ui.theme.line);
    ImGui::Dummy({1, ui.px(13)});
}

void section(DrawContext& ui, const WidgetName& title, std::string_view note, bool line) {
    ui.recorder.set_section(title);
    if (line) hairline(ui);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float available = std::max(1.0f, ImGui::GetContentRegionAvail().x),
                right = at.x + available;
    text_at(ui, {at.x, at.y + ui.px(2)}, title.words,
            {text_size::label, ui.theme.text1, Face::semibold, available});
    const float used = text_extent(ui, title.words, text_size::label, Face::semibold).x + ui.px(10);
    if (!note.empty() && used + text_extent(ui, note, text_size::hint).x <= available)
        text_right(ui, {right, at.y + ui.px(2.5f)}, note, {text_size::hint, ui.theme.text3});
    ImGui::Dummy({right - at.x, ui.px(20)});
}

void label_column(DrawContext& ui, std::string_view words, float column, std::string_view tip) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ui.px(column) - ui.px(8);
    text_at(ui, {at.x, at.y + (ui.px(26) - ui.px(text_size::label)) / 2}, words,
            {text_size::label, ui.theme.text2, Face::regular, width});
    ImGui::Dummy({width, ui.px(26)});
    if (!tip.empty()) tooltip(ui, {.name = std::string(words), .sentence = std::string(tip)});
    ImGui::SameLine(0, ui.px(8));
}

void key_value(DrawContext& ui, const WidgetName& key, std::string_view value,
               std::string_view unit) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x;
    const float y = at.y + (ui.px(20) - ui.px(text_size::label)) / 2;
    // The value comes first: in a narrow pane the unit goes, then the key is shortened; but a text
    // of many letters is itself shortened, and whole in its tooltip.
    constexpr size_t kLettersOfNumbers = 24;
    float right = at.x + width;
    const float name = text_extent(ui, key.words, text_size::label).x + ui.px(9);
    const float whole = text_extent(ui, value, text_size::body).x;
    const bool is_cut = value.size() > kLettersOfNumbers && name + whole > width;
    const float number = is_cut ? std::max(1.0F, width - name) : whole;
    const float behind = unit.empty() ? 0 : text_extent(ui, unit, text_size::hint).x + ui.px(5);
    if (behind > 0 && name + number + behind <= width) {
        text_right(ui, {right, y + ui.px(0.5f)}, unit, {text_size::hint, ui.theme.text3});
        right -= behind;
    }
    const float wide = std::min(right - at.x, number);
    text_at(ui, {right - wide, at.y + ui.px(2)}, value,
            {text_size::body, ui.theme.text1, Face::regular,
             std::max(1.0f, is_cut ? number : right - at.x)});
    const float available = right - wide - ui.px(8) - at.x;
    if (available > ui.px(16))
        text_at(ui, {at.x, y}, key.words,
                {text_size::label, ui.theme.text2, Face::regular, available});
    const ImVec2 spacing = ImGui::GetStyle().ItemSpacing;
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(spacing.x, 0));
    ImGui::Dummy({width, ui.px(20)});
    ImGui::PopStyleVar();
    ui.recorder.item("value", ui.recorder.claim(key),
                     std::string(value) + (unit.empty() ? "" : " " + std::string(unit)));
    if (is_cut) tooltip(ui, {.name = key.words, .sentence = std::string(value)});
}

void hint(DrawContext& ui, std::string_view words) {
    text_wrapped(ui, words, text_size::hint, ui.theme.text3);
    ui.recorder.item("hint", ui.recorder.claim("Hint##hint"), std::string(words));
}

// What stands behind the first part ("  \u00B7  ") stays: the first one loses its last clauses.
static std::string fitted_caption(const DrawContext& ui, std::string_view rest, float width) {
    constexpr std::string_view kBetween = "  \u00B7  ";
    const auto fits = [&](std::string_view words) {
        return text_extent(ui, words, text_size::hint).x <= width;
    };
    const size_t end = rest.find(kBetween);
    if (fits(rest) || end == std::string_view::npos) return std::string(rest);
    const std::string_view tail = rest.substr(end);
    std::string_view first = rest.substr(0, end);
    for (size_t comma = first.rfind(", "); comma != std::string_view::npos;
         comma = first.rfind(", ")) {
        first = first.substr(0, comma);
        std::string words = std::string(first) + ", \u2026" + std::string(tail);
        if (fits(words)) return words;
    }
    return std::string(rest);
}

void caption(DrawContext& ui, std::string_view quantity, std::string_view rest) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x;
    const float y = at.y + (ui.px(24) - ui.px(text_size::label)) / 2;
    text_at(ui, {at.x, y}, quantity, {text_size::label, ui.theme.text1, Face::semibold});
    const float used = text_extent(ui, quantity, text_size::label, Face::semibold).x + ui.px(10);
    if (width > used)
        text_at(ui, {at.x + used, y + ui.px(0.5f)}, fitted_caption(ui, rest, width - used),
                {text_size::hint, ui.theme.text2, Face::regular, width - used});
    ImGui::Dummy({width, ui.px(24)});
    ui.recorder.item("caption", ui.recorder.claim("Caption##caption"),
                     std::string(quantity) + "  " + std::string(rest));
}

LowCanvas low_canvas(const DrawContext& ui, float least) {
    const float height = canvas_height(ui);
    if (height >= least) return {height, true};
    return {std::max(least, ImGui::GetContentRegionAvail().y), false};
}

float canvas_height(const DrawContext& ui) {
    const ImGuiWindow* window = ImGui::GetCurrentWindowRead();
    const float bottom = window->InnerRect.Max.y - ui.px(28);
    return std::max(0.0f, bottom - ImGui::GetCursorScreenPos().y);
}

// The line of the pane under the pointer, else the first one.
static void offer_to_copy(DrawContext& ui, std::span<const ReadOut> values) {
    const bool is_first = ui.read_out.frame != ui.stats.frames;
    if (!is_first && !ImGui::IsWindowHovered(ImGuiHoveredFlags_RootAndChildWindows)) return;
    ui.read_out = {.frame = ui.stats.frames, .text = {}};
    for (const ReadOut& value : values)
        ui.read_out.text +=
            fmt::format("{}{} {}", ui.read_out.text.empty() ? "" : "  ", value.label,
                        value.exact.empty() ? value.value : value.exact);
}

void hover_line(DrawContext& ui, std::span<const ReadOut> values, std::string_view right,
                std::span<const ReadOut> locked) {
    const ImGuiWindow* window = ImGui::GetCurrentWindowRead();
    const ImVec2 b = window->InnerRect.Max;
    const ImVec2 a(window->InnerRect.Min.x, b.y - ui.px(28));
    ImDrawList* draw = ImGui::GetWindowDrawList();
    draw->PushClipRect(a, b);
    draw->AddRectFilled(a, b, ui.theme.raised);
    if (ui.theme.is_outlined()) draw->AddRectFilled(a, {b.x, a.y + 1}, ui.theme.line);
    const float middle = (a.y + b.y) / 2, end = b.x - ui.px(12);
    float words = right.empty() ? 0 : text_extent(ui, right, text_size::hint).x + ui.px(16);
    float needed = ui.px(12);
    for (const ReadOut& value : values)
        needed += text_extent(ui, value.label, text_size::hint).x + ui.px(21) +
                  text_extent(ui, value.value, text_size::label, Face::medium).x;
    if (a.x + needed > end - words) words = 0;  // what is read matters more than how
    if (words > 0)
        text_right(ui, {end, middle - ui.px(text_size::hint) / 2}, right,
                   {text_size::hint, ui.theme.text3});
    float x = a.x + ui.px(12);
    std::string recorded;
    for (const ReadOut& value : values) {
        const float label = text_extent(ui, value.label, text_size::hint).x;
        const float width = text_extent(ui, value.value, text_size::label, Face::medium).x;
        recorded += std::string(value.label) + " " + value.value + "  ";
        if (x + label + ui.px(5) + width > end - words) break;
        text_at(ui, {x, middle - ui.px(text_size::hint) / 2}, value.label,
                {text_size::hint, ui.theme.text3});
        if (label > 0) x += label + ui.px(5);
        text_at(ui, {x, middle - ui.px(text_size::label) / 2}, value.value,
                {text_size::label, ui.theme.text1, Face::medium});
        x += width + ui.px(16);
    }
    draw->PopClipRect();
    WidgetRecord record{.kind = "line",
                        .path = ui.recorder.claim("Hover line##hover_line"),
                        .min = a,
                        .max = b,
                        .value = recorded,
                        .why_not = {}};
    ui.recorder.area(std::move(record));
    offer_to_copy(ui, locked.empty() ? values : locked);
}

}  // namespace aft::app

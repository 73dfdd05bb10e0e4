#include "app/widgets/table.h"

#include <imgui_internal.h>

#include <algorithm>
#include <numeric>

#include "app/widgets/combo.h"
#include "app/widgets/tooltip.h"

namespace aft::app {

namespace {

constexpr size_t kMeasuredRows = 40;  // the others are seldom wider

// What its head and its first cells need.
float least_width(const DrawContext& ui, const Column& column, size_t place,
                  std::span<const TableRow> rows) {
    float least = text_extent(ui, column.title, text_size::hint).x;
    for (const TableRow& row : rows.first(std::min(rows.size(), kMeasuredRows)))
        if (place < row.cells.size())
            least = std::max(least, text_extent(ui, row.cells[place], text_size::body).x);
    return least + ui.px(14);
}

// Those without a width share the rest, alike where each has enough space; where there is too
// little, all give way.
std::vector<float> column_widths(const DrawContext& ui, std::span<const Column> columns,
                                 std::span<const TableRow> rows, float available) {
    std::vector<float> widths, least;
    float shares = 0, widest = 0;
    for (size_t c = 0; c < columns.size(); ++c) {
        least.push_back(least_width(ui, columns[c], c, rows));
        const bool shared = columns[c].width <= 0;
        widths.push_back(shared ? least[c] : ui.px(columns[c].width));
        shares += shared ? 1.0f : 0.0f;
        if (shared) widest = std::max(widest, least[c]);
    }
    const auto sum = [&] { return std::accumulate(widths.begin(), widths.end(), 0.0f); };
    if (sum() > available)
        for (size_t c = 0; c < columns.size(); ++c) widths[c] = std::min(widths[c], least[c]);
    const float extra = available - sum();
    float alike = available;
    for (size_t c = 0; c < columns.size(); ++c) alike -= columns[c].width > 0 ? widths[c] : 0;
    for (size_t c = 0; c < columns.size(); ++c) {
        if (extra < 0)
            widths[c] *= available / (available - extra);
        else if (columns[c].width <= 0)
            widths[c] = alike / shares >= widest ? alike / shares : widths[c] + extra / shares;
    }
    return widths;
}

struct TableCell {
    float x, width, y, size;
    ImU32 color;
};

void draw_cell(const DrawContext& ui, const Column& column, const std::string& words,
               const TableCell& at) {
    const float pad = ui.px(8);
    if (column.right)
        text_right(ui, {at.x + at.width - pad, at.y}, words, {at.size, at.color});
    else
        text_at(ui, {at.x + pad, at.y}, words, {at.size, at.color, Face::regular, at.width - pad});
}

// Whether it was pressed.
bool sort_button(DrawContext& ui, const WidgetName& name, const Column& column, ImVec2 size) {
    const WidgetPath path = ui.recorder.claim(name);
    const bool is_pressed =
        ImGui::InvisibleButton(path.id.c_str(), size, ImGuiButtonFlags_EnableNav);
    ui.recorder.item("button", path, column.title);
    tooltip(ui, {.name = column.title,
                 .sentence = "Sorts by it, the largest first. Again: back to their own order."});
    return is_pressed;
}

void draw_heads(DrawContext& ui, const WidgetName& name, std::span<const Column> columns,
                std::span<const float> widths, int* sorted_by) {
    const ImVec2 head = ImGui::GetCursorScreenPos();
    float x = head.x;
    for (size_t c = 0; c < columns.size(); ++c) {
        const bool is_sorted = sorted_by != nullptr && *sorted_by == int(c);
        bool is_hot = false;
        if (sorted_by != nullptr && !columns[c].sort_id.empty()) {
            ImGui::SetCursorScreenPos({x, head.y});
            if (sort_button(ui, name.with(": by " + columns[c].title, ":by_" + columns[c].sort_id),
                            columns[c], {widths[c], ui.px(25)}))
                *sorted_by = is_sorted ? -1 : int(c);
            is_hot = ImGui::IsItemHovered() || ImGui::IsItemFocused();
        }
        draw_cell(ui, columns[c], (is_sorted ? "\u2193 " : "") + columns[c].title,
                  {x, widths[c], head.y + ui.px(5), text_size::hint,
                   is_sorted || is_hot ? ui.theme.text1 : ui.theme.text3});
        x += widths[c];
    }
    ImGui::SetCursorScreenPos(head);
}

}  // namespace

int table(DrawContext& ui, const WidgetName& name, std::span<const Column> columns,
          std::span<const TableRow> rows, int* sorted_by) {
    const float available = ImGui::GetContentRegionAvail().x;
    const std::vector<float> widths = column_widths(ui, columns, rows, available);
    const ImVec2 head = ImGui::GetCursorScreenPos();
    draw_heads(ui, name, columns, widths, sorted_by);
    ImGui::GetWindowDrawList()->AddRectFilled(
        {head.x, head.y + ui.px(25)}, {head.x + available, head.y + ui.px(25) + 1}, ui.theme.line);
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, 0));
    ImGui::Dummy({available, ui.px(26)});
    int pressed = -1;
    float x = head.x;
    for (size_t r = 0; r < rows.size(); ++r) {
        std::string value;
        for (const std::string& cell : rows[r].cells) value += (value.empty() ? "" : " | ") + cell;
        const Row line = row(ui, name.with(": " + rows[r].name.words, ":" + rows[r].name.id),
                             {26, rows[r].selected, value});
        if (line.pressed) pressed = static_cast<int>(r);
        x = line.min.x;
        for (size_t c = 0; c < columns.size() && c < rows[r].cells.size(); ++c) {
            draw_cell(ui, columns[c], rows[r].cells[c],
                      {x, widths[c], line.min.y + ui.px(5), text_size::body, ui.theme.text1});
            x += widths[c];
        }
    }
    ImGui::PopStyleVar();
    return pressed;
}

}  // namespace aft::app

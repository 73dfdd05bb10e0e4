#include "app/widgets/table.h"

#include <imgui_internal.h>

#include <algorithm>

#include "app/widgets/combo.h"

namespace aft::app {

namespace {

std::vector<float> column_widths(const DrawContext& ui, std::span<const Column> columns,
                                 float available) {
    std::vector<float> widths;
    float fixed = 0, shares = 0;
    for (const Column& column : columns) {
        fixed += ui.px(column.width);
        shares += column.width > 0 ? 0.0f : 1.0f;
    }
    const float rest = shares > 0 ? std::max(0.0f, available - fixed) / shares : 0;
    for (const Column& column : columns)
        widths.push_back(column.width > 0 ? ui.px(column.width) : rest);
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

}  // namespace

int table(DrawContext& ui, const WidgetName& name, std::span<const Column> columns,
          std::span<const TableRow> rows) {
    const float available = ImGui::GetContentRegionAvail().x;
    const std::vector<float> widths = column_widths(ui, columns, available);
    const ImVec2 head = ImGui::GetCursorScreenPos();
    float x = head.x;
    for (size_t c = 0; c < columns.size(); ++c) {
        draw_cell(ui, columns[c], columns[c].title,
                  {x, widths[c], head.y + ui.px(5), text_size::hint, ui.theme.text3});
        x += widths[c];
    }
    ImGui::GetWindowDrawList()->AddRectFilled(
        {head.x, head.y + ui.px(25)}, {head.x + available, head.y + ui.px(25) + 1}, ui.theme.line);
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, 0));
    ImGui::Dummy({available, ui.px(26)});
    int pressed = -1;
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

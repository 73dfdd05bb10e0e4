#include "app/panels/complete/sample_text.h"

#include <algorithm>

#include "app/widgets/buttons.h"
#include "viz/text_map.h"

namespace aft::app {

namespace {

// The rows of which something is inside the clip rectangle.
viz::TextGrid seen_rows(const Region& area, ImVec2 cell, int64_t rows) {
    const ImDrawList* const list = ImGui::GetWindowDrawList();
    const auto row_at = [&](float y) {
        return std::clamp<int64_t>(static_cast<int64_t>((y - area.min.y) / cell.y), 0, rows);
    };
    return {.first = area.min,
            .cell = cell,
            .begin = row_at(list->GetClipRectMin().y),
            .end = std::min(row_at(list->GetClipRectMax().y) + 1, rows)};
}

void draw_rows(const DrawContext& ui, const SampleTextView& view, const viz::TextLayout& layout,
               const viz::TextGrid& grid) {
    for (int64_t row = grid.begin; row < grid.end; ++row)
        for (int64_t column = 0; column < layout.columns; ++column) {
            const int64_t i = layout.at({row, column});
            if (i < 0) continue;
            const viz::Box box = grid.box({row, column});
            const auto at = static_cast<size_t>(i);
            const ImU32 ground = view.ground ? view.ground(at) : 0;
            if (ground != 0) ImGui::GetWindowDrawList()->AddRectFilled(box.low, box.high, ground);
            const TextStyle style{.size = text_size::label,
                                  .color = ground != 0       ? viz::ink_on(ground)
                                           : i < view.prompt ? ui.theme.text2
                                                             : ui.theme.text1,
                                  .face = Face::mono,
                                  .align = viz::Align::centre};
            viz::text_at(ui, {(box.low.x + box.high.x) / 2, box.low.y + ui.px(2)},
                         viz::byte_glyph(view.bytes[at]), style);
        }
}

}  // namespace

SampleTextReply draw_sample_text(DrawContext& ui, const WidgetName& name,
                                 const SampleTextView& view) {
    const ImVec2 cell = viz::text_cell(ui);
    const auto columns =
        std::max<int64_t>(8, static_cast<int64_t>(ImGui::GetContentRegionAvail().x / cell.x));
    const viz::TextLayout layout = viz::lay_out_text(view.bytes, columns);
    const float height = cell.y * static_cast<float>(std::max<int64_t>(1, layout.rows));
    const Region area =
        region(ui, "picture", name, {{cell.x * static_cast<float>(columns), height}, view.words});
    const viz::TextGrid grid = seen_rows(area, cell, layout.rows);
    draw_rows(ui, view, layout, grid);
    const auto box_of = [&](int64_t i) { return grid.box(layout.places[static_cast<size_t>(i)]); };
    const auto count = static_cast<int64_t>(layout.places.size());
    ImDrawList* const list = ImGui::GetWindowDrawList();
    if (view.prompt > 0 && view.prompt < count) {
        const viz::Box first = box_of(view.prompt);
        list->AddRectFilled({first.low.x - 1, first.low.y}, {first.low.x, first.high.y},
                            ui.theme.text3);
    }
    if (view.chosen >= 0 && view.chosen < count)
        viz::draw_ring(ui, box_of(view.chosen), ui.theme.accent, 2);
    if (!area.hovered && !area.pressed) return {};
    const int64_t at = layout.at(
        {static_cast<int64_t>(area.mouse.y / cell.y), static_cast<int64_t>(area.mouse.x / cell.x)});
    return {.hovered = at, .clicked = area.pressed ? at : -1};
}

}  // namespace aft::app

#include "app/panels/home/sweep_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "app/widgets/buttons.h"
#include "app/widgets/text.h"
#include "core/text.h"

namespace aft::app {
namespace {

constexpr float kPointLine = 24, kPointAxis = 26, kMostNameWidth = 300;  // pixels at scale 1
constexpr float kMostPointLines = 16;                                    // more scroll

struct SweepScale {
    double low = 0, high = 1;
    float left = 0, right = 1;  // pixels
    [[nodiscard]] float at(double value) const {
        return left + float((value - low) / (high - low)) * (right - left);
    }
};

// Its lines, behind the points, and its numbers, below them.
template <class Draw>
void for_each_tick(const SweepScale& scale, const Draw& draw) {
    constexpr int kTicks = 4;
    for (int i = 0; i <= kTicks; ++i) {
        const double value = scale.low + (scale.high - scale.low) * i / kTicks;
        draw(value, std::floor(scale.at(value)));
    }
}

void draw_sweep_axis(const DrawContext& ui, const SweepScale& scale, float top, float bottom) {
    for_each_tick(scale, [&](double, float x) {
        ImGui::GetWindowDrawList()->AddLine({x, top}, {x, bottom}, ui.theme.line);
    });
}

void draw_sweep_numbers(const DrawContext& ui, const SweepScale& scale, float top) {
    for_each_tick(scale, [&](double value, float x) {
        const std::string words = significant(value, 4);
        const float half = text_extent(ui, words, text_size::hint).x / 2;
        text_at(ui, {x - half, top + ui.px(6)}, words, {text_size::hint, ui.theme.text2});
    });
}

void draw_sweep_point(const DrawContext& ui, const SweepRow& row, const SweepScale& scale,
                      float y) {
    ImDrawList* const list = ImGui::GetWindowDrawList();
    for (const SweepSeed& one : row.seeds)
        if (std::isfinite(one.value))
            list->AddCircle({scale.at(one.value), y}, ui.px(3.5F), ui.theme.text2, 0, ui.px(1.2F));
    if (const double paper = leading_number(row.paper); std::isfinite(paper)) {
        const float x = scale.at(paper);
        list->AddLine({x, y - ui.px(9)}, {x, y + ui.px(9)}, ui.theme.warn, ui.px(2));
    }
    if (!std::isfinite(row.mean)) return;
    if (std::isfinite(row.deviation))
        list->AddLine({scale.at(row.mean - row.deviation), y},
                      {scale.at(row.mean + row.deviation), y}, ui.theme.accent, ui.px(2));
    list->AddCircleFilled({scale.at(row.mean), y}, ui.px(4.5F), ui.theme.accent);
}

void measure_names(const DrawContext& ui, const SweepTable& table, SweepPlotSpan& span) {
    if (span.at_scale == ui.scale) return;
    span.at_scale = ui.scale;
    span.names = 0;
    for (const SweepRow& row : table.rows)
        span.names = std::max(span.names, text_extent(ui, row.name, text_size::label).x);
}

// The lines that are in view, [first, end).
std::pair<size_t, size_t> lines_in_view(float top, float line, size_t count) {
    const ImDrawList& list = *ImGui::GetWindowDrawList();
    const auto place = [&](float y) {
        return static_cast<size_t>(std::clamp((y - top) / line, 0.0F, float(count)));
    };
    return {place(list.GetClipRectMin().y), std::min(count, place(list.GetClipRectMax().y) + 1)};
}

}  // namespace

SweepPlotSpan sweep_plot_span(const SweepTable& table) {
    SweepPlotSpan span{.low = std::numeric_limits<double>::infinity()};
    span.high = -span.low;
    const auto see = [&](double value) {
        if (!std::isfinite(value)) return;
        span.has_values = true;
        span.low = std::min(span.low, value);
        span.high = std::max(span.high, value);
    };
    for (const SweepRow& row : table.rows) {
        const double spread = std::isfinite(row.deviation) ? row.deviation : 0;
        for (const double v : {row.mean - spread, row.mean + spread, leading_number(row.paper)})
            see(v);
        for (const SweepSeed& one : row.seeds) see(one.value);
    }
    if (!span.has_values) return {};
    const double wide = span.high > span.low ? span.high - span.low : std::abs(span.high);
    const double margin = std::max(1e-12, wide * 0.04);
    span.low -= margin;
    span.high += margin;
    return span;
}

int draw_sweep_plot(PaneContext& ui, const SweepTable& table, std::span<const size_t> order,
                    SweepPlotSpan& span) {
    if (!span.has_values) {
        hint(ui, "No run is done yet.");
        return -1;
    }
    measure_names(ui, table, span);
    const float line = ui.px(kPointLine), all = line * float(order.size());
    const float tall = std::min(all, line * kMostPointLines);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    SweepScale scale{.low = span.low, .high = span.high};
    int pressed = -1;
    if (ImGui::BeginChild("points of plot", {0, tall}, ImGuiChildFlags_NavFlattened)) {
        const float width = ImGui::GetContentRegionAvail().x;
        const float names = std::min({span.names, ui.px(kMostNameWidth), width * 0.35F});
        const Region area = region(
            ui, "plot", "Means##means",
            {{width, all},
             fmt::format("{} points, {:.4g} to {:.4g}", order.size(), scale.low, scale.high)});
        scale.left = area.min.x + names + ui.px(28);
        scale.right = area.max.x - ui.px(28);
        draw_sweep_axis(ui, scale, at.y, at.y + tall);
        const auto under = area.hovered ? static_cast<size_t>(area.mouse.y / line) : order.size();
        const auto [first, end] = lines_in_view(area.min.y, line, order.size());
        for (size_t i = first; i < end; ++i) {
            const SweepRow& row = table.rows[order[i]];
            const float y = area.min.y + (float(i) + 0.5F) * line;
            if (i == under)
                ImGui::GetWindowDrawList()->AddRectFilled({area.min.x, y - line / 2},
                                                          {area.max.x, y + line / 2},
                                                          with_alpha(ui.theme.field, 0.6F));
            text_at(ui, {area.min.x + ui.px(8), y - ui.px(8)}, row.name,
                    {text_size::label, ui.theme.text1, Face::regular, names + ui.px(8)});
            draw_sweep_point(ui, row, scale, y);
        }
        if (area.pressed && under < order.size()) pressed = int(order[under]);
    }
    ImGui::EndChild();
    ImGui::SetCursorScreenPos({at.x, at.y + tall});
    draw_sweep_numbers(ui, scale, at.y + tall);
    ImGui::Dummy({1, ui.px(kPointAxis)});
    return pressed;
}

}  // namespace aft::app

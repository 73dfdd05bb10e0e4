#include "app/panels/home/sweep_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/widgets/buttons.h"
#include "app/widgets/text.h"
#include "core/text.h"

namespace aft::app {
namespace {

constexpr float kPointLine = 24, kPointAxis = 26, kMostNameWidth = 300;  // pixels at scale 1

struct SweepScale {
    double low = 0, high = 1;
    float left = 0, right = 1;  // pixels
    [[nodiscard]] float at(double value) const {
        return left + float((value - low) / (high - low)) * (right - left);
    }
};

// Of everything that is drawn; false: there is nothing yet.
bool find_sweep_limits(const SweepTable& table, SweepScale& scale) {
    std::vector<double> seen;
    for (const SweepRow& row : table.rows) {
        const double spread = std::isfinite(row.deviation) ? row.deviation : 0;
        for (const double v : {row.mean - spread, row.mean + spread, leading_number(row.paper)})
            seen.push_back(v);
        for (const SweepSeed& one : row.seeds) seen.push_back(one.value);
    }
    std::erase_if(seen, [](double v) { return !std::isfinite(v); });
    if (seen.empty()) return false;
    const auto [low, high] = std::minmax_element(seen.begin(), seen.end());
    const double margin = std::max(1e-12, (*high > *low ? *high - *low : std::abs(*high)) * 0.04);
    scale.low = *low - margin;
    scale.high = *high + margin;
    return true;
}

void draw_sweep_axis(const DrawContext& ui, const SweepScale& scale, float top, float bottom) {
    ImDrawList* const list = ImGui::GetWindowDrawList();
    constexpr int kTicks = 4;
    for (int i = 0; i <= kTicks; ++i) {
        const double value = scale.low + (scale.high - scale.low) * i / kTicks;
        const float x = std::floor(scale.at(value));
        list->AddLine({x, top}, {x, bottom}, ui.theme.line);
        const std::string words = fmt::format("{:.4g}", value);
        const float half = text_extent(ui, words, text_size::hint).x / 2;
        text_at(ui, {x - half, bottom + ui.px(6)}, words, {text_size::hint, ui.theme.text2});
    }
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

}  // namespace

int draw_sweep_plot(PaneContext& ui, const SweepTable& table, const std::vector<size_t>& order) {
    SweepScale scale;
    if (!find_sweep_limits(table, scale)) {
        hint(ui, "No run is done yet.");
        return -1;
    }
    const float width = ImGui::GetContentRegionAvail().x, line = ui.px(kPointLine);
    float names = 0;
    for (const SweepRow& row : table.rows)
        names = std::max(names, text_extent(ui, row.name, text_size::label).x);
    names = std::min({names, ui.px(kMostNameWidth), width * 0.35F});
    const Region area =
        region(ui, "plot", "Means##means",
               {{width, line * float(order.size()) + ui.px(kPointAxis)},
                fmt::format("{} points, {:.4g} to {:.4g}", order.size(), scale.low, scale.high)});
    scale.left = area.min.x + names + ui.px(28);
    scale.right = area.max.x - ui.px(28);
    const float bottom = area.min.y + line * float(order.size());
    draw_sweep_axis(ui, scale, area.min.y, bottom);
    const auto under = area.hovered ? static_cast<size_t>(area.mouse.y / line) : order.size();
    for (size_t i = 0; i < order.size(); ++i) {
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
    return area.pressed && under < order.size() ? int(order[under]) : -1;
}

}  // namespace aft::app

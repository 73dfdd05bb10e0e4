#include "viz/curve_card.h"

#include <implot.h>

#include <algorithm>
#include <cmath>

#include "core/text.h"
#include "viz/text.h"

namespace aft::viz {

std::optional<PlotPoint> point_before(const Curve& curve, double x) {
    const auto after = std::upper_bound(curve.x.begin(), curve.x.end(), x);
    for (auto i = std::min(size_t(after - curve.x.begin()), curve.y.size()); i-- > 0;)
        if (std::isfinite(curve.y[i])) return PlotPoint{curve.x[i], curve.y[i]};
    return std::nullopt;
}

double nearest(const NumberView& xs, double x) {
    const auto after = std::lower_bound(xs.begin(), xs.end(), x);
    if (xs.empty()) return x;
    if (after == xs.end()) return xs[xs.size() - 1];
    return after != xs.begin() && x - *(after - 1) < *after - x ? *(after - 1) : *after;
}

CurveCard own_card(const CurvePlot& plot, double x) {
    CurveCard card{.x = x, .x_word = plot.x_word, .rows = {}};
    for (const Curve& curve : plot.curves) {
        if (curve.x.empty()) continue;
        card.x = nearest(curve.x, x);
        break;
    }
    for (const Curve& curve : plot.curves)
        if (const auto point = point_before(curve, card.x))
            card.rows.push_back({.name = curve.label.empty() ? "value" : curve.label,
                                 .value = exact_number(point->y),
                                 .color = curve.color});
    return card;
}

void draw_hover_line(const CurvePlot& plot, double x, const Look& look) {
    const ImVec2 at = ImPlot::GetPlotPos(), size = ImPlot::GetPlotSize();
    ImDrawList* const list = ImPlot::GetPlotDrawList();
    const float px = std::round(ImPlot::PlotToPixels(x, 0).x) + 0.5F;
    if (px < at.x || px > at.x + size.x) return;
    list->AddLine({px, at.y}, {px, at.y + size.y}, look.theme.text2, look.px(1));
    for (const Curve& curve : plot.curves) {
        const auto point = point_before(curve, x);
        if (!point || (plot.log_y && point->y <= 0)) continue;
        const ImVec2 place = ImPlot::PlotToPixels(point->x, point->y);
        const ImVec2 dot = {std::round(place.x) + 0.5F, place.y};
        list->AddCircleFilled(dot, look.px(5), look.theme.pane);
        list->AddCircleFilled(dot, look.px(3.5F), curve.color);
    }
}

std::string curve_number(double value, int decimals) {
    if (std::abs(value) < 1e5) return plain_number(value, decimals);
    const auto power = static_cast<int>(std::floor(std::log10(std::abs(value))));
    return plain_number(value / std::pow(10, power), 2) + "e" + std::to_string(power);
}

namespace {

constexpr float kRow = 20, kPadding = 10, kSwatch = 14, kCardGap = 24, kFromLine = 14;

struct CardLayout {
    size_t columns = 1, rows = 1;  // of values, below the line with x
    float wide = 0;                // of one column
    ImVec2 size{};
};

TextStyle name_style(const Look& look, bool is_head) {
    return {.size = 14, .color = is_head ? look.theme.text3 : look.theme.text2};
}

TextStyle value_style(const Look& look) {
    return {.size = 15, .color = look.theme.text1, .face = Face::medium, .align = Align::right};
}

CardLayout lay_out(const CurveCard& card, const Look& look) {
    CardLayout out;
    const float available = ImGui::GetIO().DisplaySize.y - look.px(4 * kPadding + kRow);
    const auto most = size_t(std::max(1.0F, std::floor(available / look.px(kRow))));
    const size_t count = std::max<size_t>(1, card.rows.size());
    out.columns = (count + most - 1) / most;
    out.rows = (count + out.columns - 1) / out.columns;
    out.wide = text_extent(look, card.x_word, name_style(look, false)).x +
               text_extent(look, group_thousands(std::llround(card.x)), value_style(look)).x +
               look.px(kCardGap);
    for (const CardRow& row : card.rows) {
        float wide = text_extent(look, row.name, name_style(look, row.is_head)).x;
        if (!row.is_head)
            wide += look.px(kSwatch + kCardGap) + text_extent(look, row.value, value_style(look)).x;
        out.wide = std::max(out.wide, wide);
    }
    const auto columns = float(out.columns);
    out.size = {columns * out.wide + (columns - 1) * look.px(kCardGap) + look.px(2 * kPadding),
                float(out.rows + 1) * look.px(kRow) + look.px(12)};
    return out;
}

void draw_row(ImVec2 at, float wide, const CardRow& row, const Look& look) {
    const float left = row.is_head ? at.x : at.x + look.px(kSwatch);
    text_at(look, {left, at.y + look.px(2)}, row.name, name_style(look, row.is_head));
    if (row.is_head) return;
    const ImVec2 middle = {at.x + look.px(4), at.y + look.px(kRow / 2)};
    ImGui::GetWindowDrawList()->AddCircleFilled(middle, look.px(3.5F), row.color);
    text_at(look, {at.x + wide, at.y + look.px(1)}, row.value, value_style(look));
}

ImVec2 place_of(const CardPlace& place, ImVec2 size, const Look& look) {
    const ImVec2 display = ImGui::GetIO().DisplaySize;
    const float away = look.px(kFromLine);
    const bool is_right = place.line + away + size.x < display.x;
    const float x = is_right ? place.line + away : place.line - away - size.x;
    return {std::round(std::max(0.0F, x)),
            std::round(std::max(0.0F, std::min(place.top, display.y - size.y)))};
}

}  // namespace

void draw_card(const CurveCard& card, const CardPlace& place, const Look& look) {
    const CardLayout layout = lay_out(card, look);
    ImGui::SetNextWindowPos(place_of(place, layout.size, look));
    ImGui::SetNextWindowSize(layout.size);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
    ImGui::PushStyleVar(ImGuiStyleVar_PopupRounding, look.px(6));
    ImGui::PushStyleColor(ImGuiCol_PopupBg, look.theme.raised);
    ImGui::PushStyleColor(ImGuiCol_Border, look.theme.strong);
    if (ImGui::BeginTooltip()) {
        const ImVec2 low = ImGui::GetWindowPos();
        const ImVec2 at = {low.x + look.px(kPadding), low.y + look.px(6)};
        text_at(look, {at.x, at.y + look.px(2)}, card.x_word, name_style(look, false));
        text_at(look, {at.x + layout.wide, at.y + look.px(1)},
                group_thousands(std::llround(card.x)), value_style(look));
        for (size_t i = 0; i < card.rows.size(); ++i) {
            const float column = float(i / layout.rows) * (layout.wide + look.px(kCardGap));
            const float down = float(i % layout.rows + 1) * look.px(kRow);
            draw_row({at.x + column, at.y + down}, layout.wide, card.rows[i], look);
        }
        ImGui::EndTooltip();
    }
    ImGui::PopStyleColor(2);
    ImGui::PopStyleVar(2);
}

}  // namespace aft::viz

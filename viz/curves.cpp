#include "viz/curves.h"

#include <implot.h>

#include <algorithm>
#include <cmath>

#include "viz/curve_card.h"
#include "viz/curve_lines.h"
#include "viz/event_texts.h"
#include "viz/label_color.h"
#include "viz/numbers.h"
#include "viz/plot_ticks.h"
#include "viz/text.h"

namespace aft::viz {
namespace {

constexpr float kTitleHeight = 24, kLabelGap = 8;

struct Extent {
    double low = std::numeric_limits<double>::infinity();
    double high = -std::numeric_limits<double>::infinity();
    void add(double v, bool log) {
        if (!std::isfinite(v) || (log && v <= 0)) return;
        low = std::min(low, v);
        high = std::max(high, v);
    }
    // Never empty; 5 % of air above and below where `air`. What is constant but for its rounding
    // stands in the middle, a tenth of itself from both ends.
    void finish(bool log, bool air) {
        if (!(low <= high)) *this = log ? Extent{0.1, 1} : Extent{0, 1};
        const double size = std::max(std::abs(low), std::abs(high));
        if (high - low <= 1e-9 * size) {
            const double pad = size > 0 ? size * 0.1 : 0.5;
            low = log ? low / 2 : low - pad;
            high = log ? high * 2 : high + pad;
        } else if (air) {
            const double pad = log ? std::pow(high / low, 0.05) : (high - low) * 0.05;
            low = log ? low / pad : low - pad;
            high = log ? high * pad : high + pad;
        }
    }
};

Extent full_x(const CurvePlot& plot) {
    Extent x;
    for (const Curve& curve : plot.curves)
        for (size_t i = 0; i < curve.x.size(); i += std::max<size_t>(1, curve.x.size() - 1))
            x.add(curve.x[i], plot.log_x);
    for (const double v : plot.reach) x.add(v, plot.log_x);
    x.finish(plot.log_x, false);
    return x;
}

Extent shown_x(const CurvePlot& plot) {
    if (const AxisZoom* zoom = plot.zoom.x; zoom != nullptr && zoom->is_user)
        return {zoom->low, zoom->high};
    return full_x(plot);
}

// The end of the axis that shows nearly all values where a few stand far above them: one blow-up
// must not flatten a curve. Else `all.high`.
double high_without_peaks(const std::vector<PlotLine>& lines, const Extent& all) {
    constexpr double kShown = 0.95, kFar = 8, kAir = 1.25;
    std::vector<double> values;
    for (const PlotLine& line : lines)
        for (const auto* points : {&line.raw, &line.main})
            for (const PlotPoint& p : *points)
                if (std::isfinite(p.y)) values.push_back(p.y);
    if (values.size() < 40) return all.high;
    const auto at = values.begin() + std::ptrdiff_t(kShown * double(values.size()));
    std::nth_element(values.begin(), at, values.end());
    const double most = *at - all.low;
    return most > 0 && all.high - all.low > kFar * most ? all.low + kAir * most : all.high;
}

Extent shown_y(const CurvePlot& plot, const std::vector<PlotLine>& lines) {
    if (const AxisZoom* zoom = plot.zoom.y; zoom != nullptr && zoom->is_user)
        return {zoom->low, zoom->high};
    Extent y;
    for (const PlotLine& line : lines)
        for (const auto* points : {&line.raw, &line.main, &line.low, &line.high})
            for (const PlotPoint& p : *points) y.add(p.y, plot.log_y);
    if (plot.zero_line) y.add(0, plot.log_y);
    if (plot.cuts_peaks && !plot.log_y) y.high = high_without_peaks(lines, y);
    if (const double lacks = plot.least_y_span - (y.high - y.low); !plot.log_y && lacks > 0) {
        y.low -= lacks / 2;
        y.high += lacks / 2;
    }
    y.finish(plot.log_y, true);
    return y;
}

ImVec4 tone(ImU32 color, float alpha) {
    return ImGui::ColorConvertU32ToFloat4(with_alpha(color, alpha));
}

void plot_points(const char* id, const std::vector<PlotPoint>& points, const ImPlotSpec& style) {
    if (points.empty()) return;
    ImPlotSpec spec = style;
    spec.Stride = sizeof(PlotPoint);
    ImPlot::PlotLine(id, &points[0].x, &points[0].y, static_cast<int>(points.size()), spec);
}

void plot_band(const PlotLine& line) {
    const size_t n = std::min(line.low.size(), line.high.size());
    if (n < 2) return;
    std::vector<double> x(n), low(n), high(n);
    for (size_t i = 0; i < n; ++i) {
        x[i] = line.high[i].x;
        low[i] = line.low[i].y;
        high[i] = line.high[i].y;
    }
    ImPlotSpec spec;
    spec.FillColor = tone(line.curve->color, 1);
    spec.FillAlpha = 0.2F;
    ImPlot::PlotShaded("##band", x.data(), low.data(), high.data(), static_cast<int>(n), spec);
}

// Those on an edge are whole.
void draw_dots(const PlotLine& line, const Look& look) {
    const float radius = look.px(2.5F);
    const ImVec2 low = ImPlot::GetPlotPos(), size = ImPlot::GetPlotSize();
    ImPlot::PushPlotClipRect(2 * radius);
    for (const PlotPoint& point : line.main) {
        const ImVec2 at = ImPlot::PlotToPixels(point.x, point.y);
        const bool is_in = at.x >= low.x - 1 && at.y >= low.y - 1 && at.x <= low.x + size.x + 1 &&
                           at.y <= low.y + size.y + 1;
        if (is_in) ImPlot::GetPlotDrawList()->AddCircleFilled(at, radius, line.curve->color);
    }
    ImPlot::PopPlotClipRect();
}

void plot_lines(const std::vector<PlotLine>& lines, const Look& look) {
    int id = 0;
    for (const PlotLine& line : lines) {
        ImGui::PushID(id++);
        plot_band(line);
        ImPlotSpec raw;
        raw.LineColor = tone(line.curve->color, 0.38F);
        raw.LineWeight = look.scale;
        plot_points("##raw", line.raw, raw);
        ImPlotSpec main;
        main.LineColor = tone(line.curve->color, 1);
        main.LineWeight = line.curve->width * look.scale;
        plot_points("##main", line.main, main);
        // No line is drawn through one point.
        if (line.curve->dots || line.main.size() == 1) draw_dots(line, look);
        ImGui::PopID();
    }
}

struct Limits {
    double x[2], y[2];
};

void setup_ticks(ImAxis axis, const TickAxis& spec) {
    if (spec.is_log) ImPlot::SetupAxisScale(axis, ImPlotScale_Log10);
    const Ticks ticks = make_ticks(spec);
    std::vector<const char*> labels;
    for (const std::string& label : ticks.labels) labels.push_back(label.c_str());
    ImPlot::SetupAxisTicks(axis, ticks.values.data(), int(ticks.values.size()), labels.data());
}

void setup_axes(const CurvePlot& plot, Limits& limits, ImVec2 size, const Look& look) {
    const bool locked = plot.zoom.x == nullptr;
    const ImPlotAxisFlags common = ImPlotAxisFlags_NoLabel | ImPlotAxisFlags_NoMenus |
                                   ImPlotAxisFlags_NoSideSwitch | ImPlotAxisFlags_NoHighlight |
                                   (locked ? ImPlotAxisFlags_Lock : 0);
    ImPlot::SetupAxes(nullptr, nullptr, common | (plot.x_labels ? 0 : ImPlotAxisFlags_NoTickLabels),
                      common);
    constexpr float kAcross = 76, kDown = 34;  // from number to number, pixels at scale 1
    const auto most = [](float pixels, float each) {
        return std::clamp(static_cast<int>(pixels / each), 1, 10);
    };
    setup_ticks(ImAxis_X1, {.low = limits.x[0],
                            .high = limits.x[1],
                            .is_log = plot.log_x,
                            .is_whole = true,
                            .most = most(size.x, look.px(kAcross))});
    setup_ticks(ImAxis_Y1, {.low = limits.y[0],
                            .high = limits.y[1],
                            .is_log = plot.log_y,
                            .most = most(size.y, look.px(kDown))});
    ImPlot::SetupAxisLinks(ImAxis_X1, &limits.x[0], &limits.x[1]);
    ImPlot::SetupAxisLinks(ImAxis_Y1, &limits.y[0], &limits.y[1]);
    ImPlot::SetupFinish();
}

// What the wheel or a drag made of the limits that were set; called after the plot has ended. True:
// everything was asked for.
bool keep_zoom(const CurveZoom& zoom, const Limits& set, const Limits& now) {
    if (ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) {
        *zoom.x = {};
        if (zoom.y != nullptr) *zoom.y = {};
        return true;
    }
    const ImGuiIO& io = ImGui::GetIO();
    if (io.MouseWheel == 0 && !ImGui::IsMouseDragging(ImGuiMouseButton_Left)) return false;
    const auto keep = [](AxisZoom* axis, const double(&before)[2], const double(&after)[2]) {
        if (axis != nullptr && (after[0] != before[0] || after[1] != before[1]))
            *axis = {true, after[0], after[1]};
    };
    keep(zoom.x, set.x, now.x);
    keep(zoom.y, set.y, now.y);
    return false;
}

constexpr float kEventText = 14;

void draw_events(const CurvePlot& plot, const Look& look) {
    ImDrawList* const list = ImPlot::GetPlotDrawList();
    const ImVec2 at = ImPlot::GetPlotPos(), size = ImPlot::GetPlotSize();
    const auto line = [&](double x, ImU32 color, float width) {
        const float edge = at.x + size.x - 0.5F;  // the last step's line is not cut off
        float px = std::round(ImPlot::PlotToPixels(x, 0).x) + 0.5F;
        if (px > edge && px < edge + 2) px = edge;
        list->AddLine({px, at.y}, {px, at.y + size.y}, color, width);
        return px;
    };
    if (plot.now.has_value()) line(*plot.now, look.theme.accent, look.px(1));
    const float gap = look.px(4), row = look.px(18);
    std::vector<EventText> texts;
    for (const CurveEvent& event : plot.events) {
        const float px = line(event.x, with_alpha(event.color, 0.5F), look.px(1));
        const float wide = text_extent(look, event.text, {.size = kEventText, .color = 0}).x;
        const bool is_left = px + gap + wide > at.x + size.x;  // the right would cut it
        const float from = is_left ? px - gap - wide : px + gap;
        texts.push_back({from - gap, from + wide + gap});
    }
    place_event_texts(texts);
    for (size_t i = 0; i < texts.size(); ++i) {
        const CurveEvent& event = plot.events[i];
        const float top = at.y + row * float(texts[i].row), from = texts[i].low + gap;
        if (event.text.empty() || texts[i].row < 0 || top + row > at.y + size.y) continue;
        list->AddRectFilled({from - 2, top}, {texts[i].high - gap + 2, top + row},
                            look.theme.pane);  // no line runs through the words
        text_at(look, {from, top + look.px(2)}, event.text,
                {.size = kEventText, .color = label_color(look.theme, event.color)});
    }
}

// The largest value above the shown range, where that was not the user's choice.
std::optional<PlotPoint> cut_peak(const CurvePlot& plot, const std::vector<PlotLine>& lines,
                                  double high) {
    const bool is_user = plot.zoom.y != nullptr && plot.zoom.y->is_user;
    if (!plot.cuts_peaks || plot.log_y || is_user) return std::nullopt;
    std::optional<PlotPoint> peak;
    for (const PlotLine& line : lines)
        for (const auto* points : {&line.raw, &line.main})
            for (const PlotPoint& p : *points)
                if (std::isfinite(p.y) && p.y > high && (!peak || p.y > peak->y)) peak = p;
    return peak;
}

// An arrow at the upper edge, with what it leaves out.
void draw_peak(const PlotPoint& peak, const Look& look) {
    const ImVec2 at = ImPlot::GetPlotPos(), size = ImPlot::GetPlotSize();
    const float half = look.px(4);  // at the ends of the edge, too, it is whole
    const float x = std::max(
        at.x + half, std::min(std::round(ImPlot::PlotToPixels(peak.x, 0).x), at.x + size.x - half));
    ImPlot::GetPlotDrawList()->AddTriangleFilled({x - half, at.y + look.px(8)},
                                                 {x + half, at.y + look.px(8)},
                                                 {x, at.y + look.px(1)}, look.theme.text2);
    const std::string words = "peak " + curve_number(peak.y, 2);
    const TextStyle style{.size = 14, .color = look.theme.text2};
    const ImVec2 extent = text_extent(look, words, style);
    // At the end of the edge that is far from the peak: curves are lower there.
    const bool is_left = x > at.x + size.x / 2;
    const float low = is_left ? at.x + look.px(4) : at.x + size.x - extent.x - look.px(4);
    text_at(look, {low, at.y}, words, style);
}

// As many of the lines with a name as there is height for: the first, the last, and between them.
std::vector<const PlotLine*> named_lines(const std::vector<PlotLine>& lines, size_t most) {
    std::vector<const PlotLine*> all, out;
    for (const PlotLine& line : lines)
        if (!line.curve->label.empty() && std::isfinite(line.last)) all.push_back(&line);
    if (all.size() <= most) return all;
    for (size_t i = 0; i < most; ++i)
        out.push_back(all[most > 1 ? i * (all.size() - 1) / (most - 1) : 0]);
    return out;
}

// Names with the last value at the line's end, pushed apart when they meet.
void draw_end_labels(const std::vector<PlotLine>& lines, const Look& look) {
    const ImVec2 at = ImPlot::GetPlotPos(), size = ImPlot::GetPlotSize();
    struct Label {
        float y;
        const PlotLine* line;
    };
    std::vector<Label> labels;
    const float height = look.px(17);
    for (const PlotLine* line : named_lines(lines, std::max(1, int(size.y / height))))
        labels.push_back({std::clamp(ImPlot::PlotToPixels(0, line->last).y - height / 2, at.y,
                                     at.y + size.y - height),
                          line});
    std::sort(labels.begin(), labels.end(),
              [](const Label& a, const Label& b) { return a.y < b.y; });
    for (size_t i = 1; i < labels.size(); ++i)
        labels[i].y = std::max(labels[i].y, labels[i - 1].y + height);
    for (size_t i = labels.size(); i-- > 0;) {
        const float below = i + 1 < labels.size() ? labels[i + 1].y : at.y + size.y;
        labels[i].y = std::min(labels[i].y, below - height);
    }
    for (const Label& label : labels)
        text_at(look, {at.x + size.x + look.px(kLabelGap), label.y}, end_label(*label.line),
                {.size = 14, .color = label_color(look.theme, label.line->curve->color)});
}

float label_space(const std::vector<PlotLine>& lines, const Look& look) {
    float widest = 0;
    for (const PlotLine& line : lines)
        widest = std::max(widest, text_extent(look, end_label(line), {.size = 14}).x);
    return widest > 0 ? widest + look.px(kLabelGap) : 0;
}

void draw_title(const CurvePlot& plot, const Look& look) {
    if (plot.title.empty()) return;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float used = text_at(look, at, plot.title,
                               {.size = 15, .color = look.theme.text1, .face = Face::semibold});
    text_at(look, {at.x + used + look.px(8), at.y + look.px(1)}, plot.unit,
            {.size = 14, .color = look.theme.text3});
    ImGui::Dummy({1, look.px(kTitleHeight)});
}

}  // namespace

CurveReply draw_curves(const CurvePlot& plot, const Look& look) {
    CurveReply reply;
    if (look.numbers != nullptr) add_curves(plot, *look.numbers);
    const float full = plot.size.x > 0 ? plot.size.x : ImGui::GetContentRegionAvail().x;
    const float title =
        plot.title.empty() ? 0 : look.px(kTitleHeight) + ImGui::GetStyle().ItemSpacing.y;
    const float height = std::max(look.px(40), plot.size.y - title);
    draw_title(plot, look);
    const Extent x = shown_x(plot);
    const std::vector<PlotLine> lines =
        make_lines(plot, {x.low, x.high, std::max(16, static_cast<int>(full)), plot.log_x});
    const Extent y = shown_y(plot, lines);
    const Limits set = {{x.low, x.high}, {y.low, y.high}};
    for (const PlotLine& line : lines) reply.has_more = reply.has_more || line.has_more;
    reply.x_low = x.low;
    reply.x_high = x.high;
    reply.y_low = y.low;
    reply.y_high = y.high;
    Limits limits = set;
    std::optional<CurveCard> card;  // of the pointer
    CardPlace place;
    const float needed = label_space(lines, look);
    // A little space at the right in any case: the last axis number is centred on the edge.
    const ImVec2 size = {std::max(look.px(80), full - std::max(needed, look.px(12))), height};
    ImGui::PushFont(look.fonts.regular, 14);
    if (ImPlot::BeginPlot(plot.id, size, ImPlotFlags_CanvasOnly | ImPlotFlags_NoFrame)) {
        setup_axes(plot, limits, size, look);
        plot_lines(lines, look);
        ImPlot::PushPlotClipRect();
        draw_events(plot, look);
        reply.peak = cut_peak(plot, lines, y.high);
        if (reply.peak) draw_peak(*reply.peak, look);
        if (ImPlot::IsPlotHovered()) {
            const double x_now = ImPlot::GetPlotMousePos().x;
            card = plot.card ? plot.card(x_now) : own_card(plot, x_now);
            reply.hovered = card->x;
            place = {ImPlot::PlotToPixels(card->x, 0).x, ImPlot::GetPlotPos().y + look.px(8)};
        }
        if (card && ImGui::IsMouseReleased(ImGuiMouseButton_Left) &&
            ImGui::GetIO().MouseDragMaxDistanceSqr[0] < 9)
            reply.clicked = reply.hovered;
        const std::optional<double> marked = card ? reply.hovered : plot.marker;
        if (marked.has_value()) draw_hover_line(plot, *marked, look);
        ImPlot::PopPlotClipRect();
        draw_end_labels(lines, look);
        ImPlot::EndPlot();
        if (card && plot.zoom.x != nullptr) reply.reset = keep_zoom(plot.zoom, set, limits);
    }
    ImGui::PopFont();
    if (card) draw_card(*card, place, look);
    return reply;
}

}  // namespace aft::viz

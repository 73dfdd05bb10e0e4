#include <algorithm>
#include <cmath>
#include <limits>

#include "core/check.h"

#include "core/figure/parts.h"

namespace aft {

namespace {

constexpr double kPlotWidth = 760, kPlotHeight = 360, kDecade = 10;

struct Axis {
    double low = 0, high = 1;
    std::vector<std::pair<double, std::string>> ticks;
    void take(double v) {
        if (!std::isfinite(v)) return;
        low = std::min(low, v);
        high = std::max(high, v);
    }
};

// A step of 1, 2 or 5 times a power of ten, about `wanted` of them.
double tick_step(double span, int wanted) {
    const double rough = span / wanted;
    const double unit = std::pow(kDecade, std::floor(std::log10(rough)));
    for (const double times : {1.0, 2.0, 5.0, kDecade})
        if (unit * times >= rough) return unit * times;
    return unit * kDecade;
}

std::string tick_words(double v, double step) {
    const int decimals =
        step >= 1 ? 0 : std::min(9, static_cast<int>(std::ceil(-std::log10(step) - 1e-9)));
    std::string words = fmt::format("{:.{}f}", std::abs(v) < step * 1e-9 ? 0.0 : v, decimals);
    if (words[0] == '-') words = "\u2212" + words.substr(1);
    return words;
}

void add_ticks(Axis& axis, int wanted) {
    const double step = tick_step(axis.high - axis.low, wanted);
    for (double at = std::ceil(axis.low / step - 1e-9); at * step <= axis.high + step * 1e-9; ++at)
        axis.ticks.emplace_back(at * step, tick_words(at * step, step));
}

Axis x_axis(const FigurePlot& plot) {
    Axis axis{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
              plot.x_ticks};
    for (const FigureSeries& one : plot.series)
        for (const double v : one.x) axis.take(v);
    for (const auto& [v, words] : plot.x_ticks) axis.take(v);
    if (!(axis.low <= axis.high)) axis = {0, 1, {}};
    if (axis.high - axis.low < 1e-12) axis = {axis.low - 0.5, axis.high + 0.5, axis.ticks};
    const double pad = plot.x_ticks.empty() ? 0 : 0.04 * (axis.high - axis.low);
    axis.low -= pad;
    axis.high += pad;
    if (axis.ticks.empty()) add_ticks(axis, 7);
    return axis;
}

Axis y_axis(const FigurePlot& plot) {
    Axis axis{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
              plot.y_ticks};
    for (const auto& [v, words] : plot.y_ticks) axis.take(v);
    for (const FigureSeries& one : plot.series)
        for (const std::vector<double>* const list : {&one.y, &one.low, &one.high})
            for (const double v : *list) axis.take(v);
    if (!(axis.low <= axis.high)) axis = {0, 1, {}};
    const double pad = std::max(0.06 * (axis.high - axis.low), 1e-6 * std::abs(axis.high) + 1e-9);
    axis.low -= pad;
    axis.high += pad;
    if (axis.ticks.empty()) add_ticks(axis, 6);
    return axis;
}

struct PlotPen {
    FigureDrawing& to;
    const FigureInk& ink;
    Axis x, y;
    DrawBox box;

    [[nodiscard]] DrawPoint at(double vx, double vy) const {
        return {box.x + (vx - x.low) / (x.high - x.low) * box.width,
                box.bottom() - (vy - y.low) / (y.high - y.low) * box.height};
    }
    void words(DrawPoint place, const std::string& text, DrawAnchor anchor) {
        to.marks.emplace_back(TextMark{.at = place,
                                       .words = text,
                                       .size = kFigureText,
                                       .ink = ink.colors.text3,
                                       .anchor = anchor});
    }
    void line(DrawPoint from, DrawPoint end, uint32_t color) {
        to.marks.emplace_back(LineMark{{from, end}, color, 1, 1});
    }
    void axes(const FigurePlot& plot) {
        for (const auto& [v, text] : y.ticks) {
            const DrawPoint left = at(x.low, v);
            line(left, {box.right(), left.y}, ink.colors.line);
            words({box.x - 8, left.y + 4}, text, DrawAnchor::end);
        }
        for (const auto& [v, text] : x.ticks) {
            const DrawPoint foot = at(v, y.low);
            line(foot, {foot.x, foot.y + 4}, ink.colors.text3);
            words({foot.x, foot.y + 18}, text, DrawAnchor::middle);
        }
        line({box.x, box.bottom()}, {box.right(), box.bottom()}, ink.colors.text3);
        words({box.x + box.width / 2, box.bottom() + 36}, plot.x_label, DrawAnchor::middle);
    }
    void series(const FigureSeries& one) {
        const uint32_t color =
            ink.colors.series[static_cast<size_t>(one.color) % ink.colors.series.size()];
        for (size_t i = 0; i < one.low.size(); ++i)
            if (std::isfinite(one.low[i]) && one.high[i] > one.low[i])
                to.marks.emplace_back(
                    LineMark{{at(one.x[i], one.low[i]), at(one.x[i], one.high[i])}, color, 5, 0.3});
        std::vector<DrawPoint> run;
        const auto flush = [&] {
            if (run.size() > 1 && one.has_line)
                to.marks.emplace_back(
                    LineMark{run, color, one.is_faint ? 1.0 : 2.0, one.is_faint ? 0.35 : 1.0});
            run.clear();
        };
        for (size_t i = 0; i < one.x.size(); ++i) {
            if (!std::isfinite(one.y[i])) {
                flush();
                continue;
            }
            run.push_back(at(one.x[i], one.y[i]));
            if (one.has_dots) to.marks.emplace_back(DotMark{run.back(), 3.5, color});
        }
        flush();
    }
    // Returns how wide the names are.
    double names_at_ends(const FigurePlot& plot);
};

// A name right of the plot, and the last point of its line.
struct EndName {
    const FigureSeries* series = nullptr;
    DrawPoint end = {};
    double y = 0;
};

// From top to bottom, none over another, inside the plot as far as there is place.
void spread(std::vector<EndName>& names, const DrawBox& box) {
    constexpr double kApart = 15;
    std::stable_sort(names.begin(), names.end(),
                     [](const EndName& a, const EndName& b) { return a.y < b.y; });
    for (size_t i = 1; i < names.size(); ++i)
        names[i].y = std::max(names[i].y, names[i - 1].y + kApart);
    double lowest = box.bottom();
    for (size_t i = names.size(); i-- > 0; lowest = names[i].y - kApart)
        names[i].y = std::min(names[i].y, lowest);
}

double PlotPen::names_at_ends(const FigurePlot& plot) {
    constexpr double kNameGap = 22;
    std::vector<EndName> names;
    for (const FigureSeries& one : plot.series)
        for (size_t i = one.x.size(); i-- > 0 && !one.name.empty();) {
            if (!std::isfinite(one.y[i])) continue;
            const DrawPoint end = at(one.x[i], one.y[i]);
            names.push_back({&one, end, end.y});
            break;
        }
    spread(names, box);
    double width = 0;
    for (const EndName& name : names) {
        const uint32_t color =
            ink.colors.series[static_cast<size_t>(name.series->color) % ink.colors.series.size()];
        const DrawPoint place{box.right() + kNameGap, name.y};
        to.marks.emplace_back(LineMark{{name.end, {place.x - 4, place.y}}, color, 1, 0.5});
        to.marks.emplace_back(TextMark{.at = {place.x, place.y + 4},
                                       .words = name.series->name,
                                       .size = kFigureText,
                                       .ink = color});
        width = std::max(width, kNameGap + text_width(name.series->name, kFigureText));
    }
    return width;
}

// Names with their colours, in lines as wide as the plot; returns where it ends.
double draw_legend(FigureDrawing& to, const FigureInk& ink, const FigurePlot& plot, DrawPoint at) {
    DrawPoint pen{at.x, at.y + 12};
    bool any = false;
    for (const FigureSeries& one : plot.series) {
        if (one.name.empty()) continue;
        const double width = 28 + text_width(one.name, kFigureText) + 20;
        if (any && pen.x + width > at.x + kPlotWidth) pen = {at.x, pen.y + 20};
        any = true;
        const uint32_t color =
            ink.colors.series[static_cast<size_t>(one.color) % ink.colors.series.size()];
        to.marks.emplace_back(LineMark{
            {{pen.x, pen.y - 4}, {pen.x + 20, pen.y - 4}}, color, 2, one.is_faint ? 0.35 : 1});
        if (one.has_dots) to.marks.emplace_back(DotMark{{pen.x + 10, pen.y - 4}, 3.5, color});
        to.marks.emplace_back(TextMark{.at = {pen.x + 28, pen.y},
                                       .words = one.name,
                                       .size = kFigureText,
                                       .ink = ink.colors.text2});
        pen.x += width;
    }
    return any ? pen.y + 14 : at.y;
}

}  // namespace

DrawBox draw_plot(FigureDrawing& to, const FigureInk& ink, const FigurePlot& plot, DrawPoint at) {
    PlotPen pen{to, ink, x_axis(plot), y_axis(plot), {}};
    double left = 0;
    for (const auto& [v, words] : pen.y.ticks)
        left = std::max(left, text_width(words, kFigureText));
    left = std::ceil(left) + 12;
    const double top = (plot.names_at_ends ? at.y : draw_legend(to, ink, plot, at)) + 22;
    pen.words({at.x, top - 8}, plot.y_label, DrawAnchor::start);
    pen.box = {at.x + left, top, kPlotWidth, kPlotHeight};
    pen.axes(plot);
    for (const FigureSeries& one : plot.series)
        if (one.is_faint) pen.series(one);
    for (const FigureSeries& one : plot.series)
        if (!one.is_faint) pen.series(one);
    const double names = plot.names_at_ends ? pen.names_at_ends(plot) : 0;
    return {at.x, at.y, left + kPlotWidth + names + 24, top + kPlotHeight + 44 - at.y};
}

}  // namespace aft

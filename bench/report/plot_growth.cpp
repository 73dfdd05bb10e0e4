// Growth against the length: two panels with logarithmic axes, every curve named at its end.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "bench/report/plot.h"

namespace aft::bench {
namespace {

using nlohmann::json;

constexpr double kPanelHeight = 330, kPanelWidth = 330, kAxis = 44, kLabelGap = 16;

struct AxisRange {  // of an axis, in log2
    double low = std::numeric_limits<double>::infinity(), high = -low;
    void take(double value) {
        low = std::min(low, std::log2(value));
        high = std::max(high, std::log2(value));
    }
    [[nodiscard]] double share(double value) const {
        return (std::log2(value) - low) / (high - low);
    }
};

struct PlotQuantity {
    const char *title, *unit, *key;
    double scale = 1;
};

struct PlotPanel {
    SvgRect box;
    AxisRange x = {}, y = {};
    [[nodiscard]] SvgPoint at(double length, double value) const {
        return {box.x + box.width * x.share(length), box.bottom() - box.height * y.share(value)};
    }
};

struct Ending {  // of a curve: where its name goes
    SvgPoint at;
    std::string words, style;
    double y = 0;
};

// Points of one curve that were measured and can stand on a logarithmic axis.
std::vector<std::pair<double, double>> values_of(const json& curve, const PlotQuantity& quantity) {
    std::vector<std::pair<double, double>> values;
    for (const json& point : curve["points"]) {
        if (!point.contains(quantity.key) || !point[quantity.key].is_number()) continue;
        const double value = point[quantity.key].get<double>() * quantity.scale;
        if (value > 0) values.emplace_back(point["length"].get<double>(), value);
    }
    return values;
}

PlotPanel panel_of(const json& row, const PlotQuantity& quantity, const SvgRect& box) {
    PlotPanel panel{.box = box};
    for (const json& length : row["lengths"]) panel.x.take(length);
    for (const json& curve : row["contestants"])
        for (const auto& [length, value] : values_of(curve, quantity)) panel.y.take(value);
    panel.y.low -= 0.5;
    panel.y.high += 0.5;
    return panel;
}

std::string short_number(double value) {
    return value >= 100 ? fmt::format("{:.0f}", value) : fmt::format("{:.2g}", value);
}

std::string length_words(int64_t length) {
    return length >= 1024 ? fmt::format("{}k", length / 1024) : fmt::format("{}", length);
}

void draw_axes(Svg& svg, const PlotPanel& panel, const json& lengths,
               const PlotQuantity& quantity) {
    const SvgRect& box = panel.box;
    svg.text({box.x - kAxis, box.y - 16}, quantity.title, "head t1");
    svg.text({box.x - kAxis, box.y + 2}, quantity.unit, "t3");
    const int first = static_cast<int>(std::ceil(panel.y.low * std::log10(2.0)));
    for (int power = first; power <= panel.y.high * std::log10(2.0); ++power) {
        const double y = panel.at(lengths[0], std::pow(10.0, power)).y;
        svg.line({box.x, y}, {box.right(), y}, "grid");
        svg.text({box.x - 8, y + 4}, fmt::format("{:g}", std::pow(10.0, power)), "t3",
                 TextAnchor::end);
    }
    for (std::size_t i = 0; i < lengths.size(); ++i) {
        const double x = panel.at(lengths[i], 1).x;
        svg.line({x, box.y + 10}, {x, box.bottom()}, "grid");
        svg.text({x, box.bottom() + 18}, length_words(lengths[i]), "t3", TextAnchor::middle);
    }
    svg.text({box.right(), box.bottom() + 36}, "tokens T", "t3", TextAnchor::end);
}

// Names keep their distance: from the top down, then back up from the bottom.
void push_apart(std::vector<Ending>& endings, const SvgRect& box) {
    std::sort(endings.begin(), endings.end(),
              [](const Ending& a, const Ending& b) { return a.at.y < b.at.y; });
    for (std::size_t i = 0; i < endings.size(); ++i) {
        endings[i].y = endings[i].at.y;
        if (i > 0) endings[i].y = std::max(endings[i].y, endings[i - 1].y + kLabelGap);
    }
    double most = box.bottom();
    for (std::size_t i = endings.size(); i-- > 0; most = endings[i].y - kLabelGap)
        endings[i].y = std::min(endings[i].y, most);
}

// Through the last point of the first curve: what linear growth would look like.
void draw_guide(Svg& svg, const PlotPanel& panel, const json& row, const PlotQuantity& quantity) {
    const auto values = values_of(row["contestants"][0], quantity);
    if (values.empty()) return;
    const auto [length, value] = values.back();
    const double first = row["lengths"][0], low = std::exp2(panel.y.low);
    const double from = std::max(first, length * low / value);
    svg.line(panel.at(from, value * from / length), panel.at(length, value), "guide");
}

void draw_panel(Svg& svg, const json& row, const PlotQuantity& quantity, const SvgRect& box) {
    const PlotPanel panel = panel_of(row, quantity, box);
    if (!(panel.y.high > panel.y.low)) return;
    draw_axes(svg, panel, row["lengths"], quantity);
    draw_guide(svg, panel, row, quantity);
    std::vector<Ending> endings;
    int series = 0;
    for (const json& curve : row["contestants"]) {
        ++series;
        std::vector<SvgPoint> points;
        double last = 0;
        for (const auto& [length, value] : values_of(curve, quantity)) {
            points.push_back(panel.at(length, value));
            last = value;
        }
        if (points.empty()) continue;
        svg.curve(points, fmt::format("s{}", series));
        for (const SvgPoint& point : points) svg.dot(point, fmt::format("f{}", series));
        const std::string name = curve["name"];
        endings.push_back(
            {.at = points.back(),
             .words = fmt::format("{} {} {}", name.substr(0, name.find(',')), short_number(last),
                                  quantity.unit),
             .style = fmt::format("{}f{}", curve["ours"].get<bool>() ? "strong " : "", series)});
    }
    push_apart(endings, box);
    for (const Ending& one : endings) svg.text({one.at.x + 9, one.y + 4}, one.words, one.style);
}

// "softmax attention: T=64k over 20 s", for what was not run.
std::string skipped_words(const json& row) {
    std::string words;
    for (const json& curve : row["contestants"])
        for (const json& point : curve["points"])
            if (point.contains("skipped"))
                words +=
                    fmt::format("{}{} at {}: {}", words.empty() ? "Not run: " : "; ",
                                curve["name"].get<std::string>(), length_words(point["length"]),
                                point["skipped"].get<std::string>());
    return words;
}

}  // namespace

double draw_growth(Svg& svg, const json& row, double top) {
    const double y = top + 30, second = kPictureWidth / 2 + 16;
    const PlotQuantity time{.title = "Time of one forward pass", .unit = "ms", .key = "median_ms"};
    const PlotQuantity memory{
        .title = "Peak memory above the inputs", .unit = "MB", .key = "peak_bytes", .scale = 1e-6};
    draw_panel(svg, row, time, {kPictureMargin + kAxis, y, kPanelWidth, kPanelHeight});
    draw_panel(svg, row, memory, {second + kAxis, y, kPanelWidth, kPanelHeight});
    const double foot = y + kPanelHeight + 56;
    svg.text(
        {kPictureMargin, foot},
        row["case"].get<std::string>() + ", float32. Dashed: linear in T. " + skipped_words(row),
        "small t3");
    return foot;
}

}  // namespace aft::bench

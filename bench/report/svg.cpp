#include "bench/report/svg.h"

#include <fmt/format.h>

#include "core/images/plot_colors.h"
#include "core/text.h"

namespace aft::bench {
namespace {

std::string hex(uint32_t color) {
    return fmt::format("#{:06X}", color);
}

std::string colours(const PlotColors& colors) {
    std::string out = fmt::format(
        ".pane{{fill:{}}}.grid{{stroke:{}}}.t1{{fill:{}}}.t2{{fill:{}}}.t3{{fill:{}}}"
        ".guide{{stroke:{}}}",
        hex(colors.pane), hex(colors.line), hex(colors.text1), hex(colors.text2), hex(colors.text3),
        hex(colors.text3));
    for (size_t i = 0; i < colors.series.size(); ++i)
        out += fmt::format(".s{0}{{stroke:{1}}}.f{0}{{fill:{1}}}", i + 1, hex(colors.series[i]));
    return out;
}

}  // namespace

void Svg::text(const SvgPoint& at, std::string_view words, std::string_view style,
               TextAnchor anchor) {
    const char* const anchors[] = {"start", "middle", "end"};
    body_ +=
        fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}\" text-anchor=\"{}\">{}</text>\n",
                    at.x, at.y, style, anchors[static_cast<int>(anchor)], xml_text(words));
}

void Svg::line(const SvgPoint& from, const SvgPoint& to, std::string_view style) {
    body_ += fmt::format(
        "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"{}\"/>\n", from.x,
        from.y, to.x, to.y, style);
}

void Svg::curve(const std::vector<SvgPoint>& points, std::string_view style) {
    std::string list;
    for (const SvgPoint& one : points)
        list += fmt::format("{}{:.1f},{:.1f}", list.empty() ? "" : " ", one.x, one.y);
    body_ += fmt::format("<polyline points=\"{}\" class=\"curve {}\"/>\n", list, style);
}

void Svg::dot(const SvgPoint& at, std::string_view style) {
    body_ += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.6\" class=\"{}\"/>\n", at.x,
                         at.y, style);
}

void Svg::bar(const SvgRect& box, std::string_view style) {
    body_ += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" class=\"{}\"/>\n",
        box.x, box.y, box.width, box.height, style);
}

std::string Svg::document(double width, double height, std::string_view title) const {
    const std::string shape = fmt::format("width=\"{:.0f}\" height=\"{:.0f}\"", width, height);
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" {} viewBox=\"0 0 {:.0f} {:.0f}\" "
        "role=\"img\">\n<title>{}</title>\n<style>\n"
        "text{{font-family:Inter,'Helvetica Neue',Arial,sans-serif;font-size:12px}}"
        ".head{{font-size:15px;font-weight:600}}.strong{{font-weight:600}}.small{{font-size:11px}}"
        ".curve{{fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}}"
        ".grid{{stroke-width:1}}.guide{{stroke-width:1;stroke-dasharray:3 4}}\n{}\n"
        "@media (prefers-color-scheme: dark){{{}}}\n</style>\n"
        "<rect {} class=\"pane\"/>\n{}</svg>\n",
        shape, width, height, xml_text(title), colours(kPlotColorsLight), colours(kPlotColorsDark),
        shape, body_);
}

}  // namespace aft::bench

#include "bench/svg.h"

#include <fmt/format.h>

namespace aft::bench {
namespace {

struct SvgTheme {
    const char *pane, *grid, *text1, *text2, *text3;
    const char* series[8];
};

// The interface's tokens for light and dark panes, and its series 1 to 8.
constexpr SvgTheme kLight{
    "#FAFAFA",
    "#DFE2E6",
    "#16191D",
    "#4A515A",
    "#5A626B",
    {"#266DD8", "#B45B0B", "#1B6C55", "#9E528D", "#7D7442", "#7F1A04", "#400B93", "#282F38"}};
constexpr SvgTheme kDark{
    "#15171A",
    "#282C31",
    "#E6E9EC",
    "#ABB2BA",
    "#8E96A0",
    {"#85B4FF", "#FF9F19", "#4FE0CE", "#D666B8", "#F4DC7E", "#EB5C30", "#8877FA", "#9A9A8E"}};

std::string colours(const SvgTheme& theme) {
    std::string out = fmt::format(
        ".pane{{fill:{}}}.grid{{stroke:{}}}.t1{{fill:{}}}.t2{{fill:{}}}.t3{{fill:{}}}"
        ".guide{{stroke:{}}}",
        theme.pane, theme.grid, theme.text1, theme.text2, theme.text3, theme.text3);
    for (int i = 0; i < 8; ++i)
        out += fmt::format(".s{0}{{stroke:{1}}}.f{0}{{fill:{1}}}", i + 1, theme.series[i]);
    return out;
}

std::string escaped(std::string_view words) {
    std::string out;
    for (const char c : words) {
        if (c == '&')
            out += "&amp;";
        else if (c == '<')
            out += "&lt;";
        else if (c == '>')
            out += "&gt;";
        else
            out += c;
    }
    return out;
}

}  // namespace

void Svg::text(const SvgPoint& at, std::string_view words, std::string_view style,
               TextAnchor anchor) {
    const char* const anchors[] = {"start", "middle", "end"};
    body_ +=
        fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}\" text-anchor=\"{}\">{}</text>\n",
                    at.x, at.y, style, anchors[static_cast<int>(anchor)], escaped(words));
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
        shape, width, height, escaped(title), colours(kLight), colours(kDark), shape, body_);
}

}  // namespace aft::bench

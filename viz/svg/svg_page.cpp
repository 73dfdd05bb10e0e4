#include "viz/svg/svg_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/images/svg.h"
#include "core/text.h"

namespace aft::viz {
namespace {

constexpr float kSlack = 0.05F;  // pixels that an element may reach beyond its clip

bool covers_all(const Box& outer, const Box& inner) {
    return inner.low.x >= outer.low.x && inner.low.y >= outer.low.y &&
           inner.high.x <= outer.high.x && inner.high.y <= outer.high.y;
}

}  // namespace

Box overlap_of(const Box& a, const Box& b) {
    return {{std::max(a.low.x, b.low.x), std::max(a.low.y, b.low.y)},
            {std::min(a.high.x, b.high.x), std::min(a.high.y, b.high.y)}};
}

bool has_area(const Box& box) {
    return box.low.x < box.high.x && box.low.y < box.high.y;
}

Box grown(const Box& box, float by) {
    return {{box.low.x - by, box.low.y - by}, {box.high.x + by, box.high.y + by}};
}

std::string svg_paint(std::string_view what, ImU32 color) {
    const auto channel = [&](int shift) { return color >> shift & 0xFFU; };
    const bool is_stop = what == "stop";
    std::string out =
        fmt::format("{}=\"{}\"", is_stop ? "stop-color" : what,
                    svg_color(channel(IM_COL32_R_SHIFT) << 16U | channel(IM_COL32_G_SHIFT) << 8U |
                              channel(IM_COL32_B_SHIFT)));
    if (const ImU32 alpha = channel(IM_COL32_A_SHIFT); alpha != 255)
        out += fmt::format(" {}-opacity=\"{:.3g}\"", what, alpha / 255.0);
    return out;
}

std::string svg_point(ImVec2 at) {
    return svg_number(double(at.x)) + ' ' + svg_number(double(at.y));
}

std::string svg_place(const Box& box) {
    return fmt::format("x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"",
                       svg_number(double(box.low.x)), svg_number(double(box.low.y)),
                       svg_number(double(box.width())), svg_number(double(box.height())));
}

void SvgPage::enter(const std::string& clip_id) {
    if (clip_id == clip_id_) return;
    if (!clip_id_.empty()) body_ += "</g>\n";
    if (!clip_id.empty()) body_ += fmt::format("<g clip-path=\"url(#{})\">\n", clip_id);
    clip_id_ = clip_id;
}

void SvgPage::add(std::string_view element, const Box& extent, const Box& clip) {
    const Box shown = overlap_of(clip, box());
    if (!has_area(overlap_of(extent, shown))) return;
    const bool is_inside = covers_all(grown(shown, kSlack), extent);
    enter(is_inside ? std::string()
                    : define({.name = "clipPath",
                              .content = fmt::format("<rect {}/>", svg_place(shown))}));
    body_ += element;
    body_ += '\n';
}

std::string SvgPage::define(const SvgTag& tag) {
    const auto [at, is_new] = definitions_.try_emplace(tag);
    if (is_new) {
        at->second = fmt::format("{}{}", tag.name, definitions_.size());
        written_definitions_ +=
            fmt::format("<{0} id=\"{1}\"{2}{3}>{4}</{0}>\n", tag.name, at->second,
                        tag.attributes.empty() ? "" : " ", tag.attributes, tag.content);
    }
    return at->second;
}

std::string SvgPage::finish(const SvgHead& head) {
    enter({});
    const std::string width = svg_number(double(size_.x)), height = svg_number(double(size_.y));
    std::string out = fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
        "viewBox=\"0 0 {0} {1}\" role=\"img\" {2}>\n<title>{3}</title>\n<defs>\n{4}</defs>\n",
        width, height, head.attributes, xml_text(head.title), written_definitions_);
    if ((head.ground & IM_COL32_A_MASK) != 0)
        out += fmt::format("<rect width=\"{}\" height=\"{}\" {}/>\n", width, height,
                           svg_paint("fill", head.ground));
    return out + body_ + "</svg>\n";
}

}  // namespace aft::viz

#include "viz/svg/svg_shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/images/svg.h"

namespace aft::viz {
namespace {

constexpr float kJoint = 0.05F;  // pixels between ends that are one

ImVec2 minus(ImVec2 a, ImVec2 b) {
    return {a.x - b.x, a.y - b.y};
}
ImVec2 middle_of(ImVec2 a, ImVec2 b) {
    return {(a.x + b.x) / 2, (a.y + b.y) / 2};
}
float distance_of(ImVec2 a, ImVec2 b) {
    return std::hypot(a.x - b.x, a.y - b.y);
}
bool is_along_axis(ImVec2 way) {
    return std::abs(way.x) < 0.002F || std::abs(way.y) < 0.002F;
}

struct LinePiece {
    ImVec2 from, to;
    float width = 0;
};

// Dear ImGui writes a piece of a line, and a rectangle, as the two corners on one side of the way
// and the two on the other.
std::optional<LinePiece> line_piece(const DrawPolygon& polygon) {
    if (polygon.corners.size() != 4) return {};
    const auto at = [&](size_t i) { return polygon.corners[i].pos; };
    const ImVec2 way = minus(at(1), at(0)), side = minus(at(3), at(0)), other = minus(at(2), at(1));
    const float length = std::hypot(way.x, way.y), width = std::hypot(side.x, side.y);
    const bool is_parallel = distance_of(side, other) < 0.02F;
    const bool is_square = std::abs(way.x * side.x + way.y * side.y) <= 0.02F * (length + width);
    if (!is_parallel || !is_square || length < 1e-3F || width < 1e-3F) return {};
    return LinePiece{middle_of(at(0), at(3)), middle_of(at(1), at(2)), width};
}

Box box_around(const std::vector<ImVec2>& points) {
    Box out{points[0], points[0]};
    for (const ImVec2 p : points) {
        out.low = {std::min(out.low.x, p.x), std::min(out.low.y, p.y)};
        out.high = {std::max(out.high.x, p.x), std::max(out.high.y, p.y)};
    }
    return out;
}

std::string path_of(const std::vector<ImVec2>& points, bool is_closed) {
    std::string out;
    for (const ImVec2 p : points) out += (out.empty() ? 'M' : 'L') + svg_point(p);
    return is_closed ? out + 'Z' : out;
}

struct CircleShape {
    ImVec2 middle;
    float radius = 0;
};

// Dear ImGui's circles have corners of equal distance from their middle.
std::optional<CircleShape> circle_of(const std::vector<ImVec2>& corners) {
    if (corners.size() < 8) return {};
    CircleShape out;
    for (const ImVec2 p : corners) {
        out.middle.x += p.x / float(corners.size());
        out.middle.y += p.y / float(corners.size());
    }
    out.radius = distance_of(corners[0], out.middle);
    for (size_t i = 0; i < corners.size(); ++i) {
        const ImVec2 next = corners[(i + 1) % corners.size()];
        if (std::abs(distance_of(corners[i], out.middle) - out.radius) > 0.02F) return {};
        if (distance_of(corners[i], next) > 0.9F * out.radius) return {};
    }
    return out;
}

bool have_common_edge(const std::vector<ImVec2>& a, const DrawPolygon& b) {
    const auto common = std::count_if(a.begin(), a.end(), [&](ImVec2 p) {
        return std::any_of(b.corners.begin(), b.corners.end(), [&](const ImDrawVert& corner) {
            return distance_of(p, corner.pos) < 0.01F;
        });
    });
    return common >= 2;
}

double twice_area(const std::vector<ImVec2>& corners) {
    double out = 0;
    for (size_t i = 0; i < corners.size(); ++i) {
        const ImVec2 a = corners[i], b = corners[(i + 1) % corners.size()];
        out += double(a.x) * double(b.y) - double(b.x) * double(a.y);
    }
    return out;
}

std::string circle_element(const CircleShape& circle, const std::string& paint) {
    return fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\" {}/>",
                       svg_number(double(circle.middle.x)), svg_number(double(circle.middle.y)),
                       svg_number(double(circle.radius)), paint);
}

}  // namespace

void SvgShapes::add(const DrawPolygon& polygon, const Box& clip) {
    if (add_gradient(polygon, clip) || add_stroke(polygon, clip)) return;
    add_fill(polygon, clip);
}

void SvgShapes::flush() {
    if (stroke_) write(*stroke_);
    if (gradient_) write(*gradient_);
    if (fill_) write(*fill_);
    stroke_.reset();
    gradient_.reset();
    fill_.reset();
}

bool SvgShapes::add_gradient(const DrawPolygon& polygon, const Box& clip) {
    if (!is_upright_rectangle(polygon)) return false;
    const Box box = extent_of(polygon);
    const auto color_at = [&](ImVec2 at) {
        for (const ImDrawVert& corner : polygon.corners)
            if (distance_of(corner.pos, at) < 0.01F) return corner.col;
        return polygon.corners[0].col;
    };
    const ImU32 first = color_at(box.low), last = color_at(box.high);
    const ImU32 right = color_at({box.high.x, box.low.y}),
                below = color_at({box.low.x, box.high.y});
    const bool is_level = first == below && right == last,
               is_plumb = first == right && below == last;
    if (is_level == is_plumb) return false;  // one colour, or four
    const auto low = [&](const Box& b) { return is_level ? b.low.x : b.low.y; };
    const auto high = [&](const Box& b) { return is_level ? b.high.x : b.high.y; };
    const auto follows = [&](const SvgGradient& g) {
        const bool is_even = is_level ? g.box.low.y == box.low.y && g.box.high.y == box.high.y
                                      : g.box.low.x == box.low.x && g.box.high.x == box.high.x;
        return g.is_level == is_level && is_even && g.clip == clip &&
               g.stops.back().color == first && std::abs(high(g.box) - low(box)) < kJoint;
    };
    if (!gradient_ || !follows(*gradient_)) {
        flush();
        gradient_ = SvgGradient{box, is_level, {{low(box), first}}, clip};
    }
    gradient_->box.high = box.high;
    gradient_->stops.push_back({high(box), last});
    return true;
}

bool SvgShapes::add_stroke(const DrawPolygon& polygon, const Box& clip) {
    const std::optional<LinePiece> piece = line_piece(polygon);
    if (!piece) return false;
    const ImU32 color = mean_color(polygon);
    const auto follows = [&](const SvgStroke& s) {
        return s.color == color && s.clip == clip && std::abs(s.width - piece->width) < 0.02F &&
               distance_of(s.points.back(), piece->from) < kJoint;
    };
    if (!stroke_ || !follows(*stroke_)) {
        flush();
        stroke_ = SvgStroke{{piece->from}, piece->width, color, clip};
    }
    std::vector<ImVec2>& points = stroke_->points;
    const ImVec2 way = minus(piece->to, piece->from);
    const size_t n = points.size();
    // Rectangles side by side are one.
    if (n >= 2 && is_along_axis(way) && is_along_axis(minus(points[n - 1], points[n - 2])) &&
        is_along_axis(minus(piece->to, points[n - 2])) &&
        way.x * (points[n - 1].x - points[n - 2].x) + way.y * (points[n - 1].y - points[n - 2].y) >
            0)
        points.pop_back();
    points.push_back(piece->to);
    return true;
}

void SvgShapes::add_fill(const DrawPolygon& polygon, const Box& clip) {
    const ImU32 color = mean_color(polygon);
    const auto follows = [&](const SvgFill& f) {
        return f.color == color && f.clip == clip &&
               (polygon.is_joined || have_common_edge(f.polygons.back(), polygon));
    };
    std::vector<ImVec2> corners;
    for (const ImDrawVert& corner : polygon.corners) corners.push_back(corner.pos);
    const double area = twice_area(corners);
    if (std::abs(area) < 1e-4) return;
    // Turned alike, or they would cut holes into each other.
    if (area < 0) std::reverse(corners.begin(), corners.end());
    if (!fill_ || !follows(*fill_)) {
        flush();
        fill_ = SvgFill{{}, color, clip};
    }
    fill_->polygons.push_back(std::move(corners));
}

void SvgShapes::write(const SvgStroke& stroke) {
    std::vector<ImVec2> points = stroke.points;
    const Box middle = box_around(points);
    const float half = stroke.width / 2;
    if (points.size() == 2 && is_along_axis(minus(points[1], points[0]))) {
        const bool is_level = middle.width() > middle.height();
        const ImVec2 side = is_level ? ImVec2{0, half} : ImVec2{half, 0};
        const Box box =
            overlap_of({minus(middle.low, side), {middle.high.x + side.x, middle.high.y + side.y}},
                       overlap_of(stroke.clip, page_.box()));
        if (!has_area(box)) return;
        const std::string paint = svg_paint("fill", stroke.color);
        page_.add(fmt::format("<rect {} {}/>", svg_place(box), paint), box, stroke.clip);
        return;
    }
    bool is_angular = true;
    for (size_t i = 1; i < points.size(); ++i)
        is_angular = is_angular && is_along_axis(minus(points[i], points[i - 1]));
    const bool is_closed = points.size() > 3 && distance_of(points.front(), points.back()) < kJoint;
    if (is_closed) points.pop_back();
    const std::string paint =
        fmt::format("fill=\"none\" {} stroke-width=\"{}\"", svg_paint("stroke", stroke.color),
                    svg_number(double(stroke.width)));
    const auto circle = is_closed ? circle_of(points) : std::nullopt;
    page_.add(circle ? circle_element(*circle, paint)
                     : fmt::format("<path d=\"{}\" {}{}/>", path_of(points, is_closed), paint,
                                   is_angular ? "" : " stroke-linejoin=\"round\""),
              grown(middle, half), stroke.clip);
}

void SvgShapes::write(const SvgGradient& gradient) {
    const Box box = overlap_of(gradient.box, overlap_of(gradient.clip, page_.box()));
    if (!has_area(box)) return;
    const float from = gradient.stops.front().at, to = gradient.stops.back().at;
    std::string stops;
    for (const SvgGradient::Stop& stop : gradient.stops)
        stops += fmt::format("<stop offset=\"{:.4g}\" {}/>", double((stop.at - from) / (to - from)),
                             svg_paint("stop", stop.color));
    const char axis = gradient.is_level ? 'x' : 'y', other = gradient.is_level ? 'y' : 'x';
    const std::string ends = fmt::format("{0}1=\"{2}\" {0}2=\"{3}\" {1}1=\"0\" {1}2=\"0\"", axis,
                                         other, svg_number(double(from)), svg_number(double(to)));
    const std::string id = page_.define({.name = "linearGradient",
                                         .attributes = "gradientUnits=\"userSpaceOnUse\" " + ends,
                                         .content = stops});
    page_.add(fmt::format("<rect {} fill=\"url(#{})\"/>", svg_place(box), id), box, gradient.clip);
}

void SvgShapes::write(const SvgFill& fill) {
    const std::string paint = svg_paint("fill", fill.color);
    Box extent = box_around(fill.polygons[0]);
    std::string data;
    for (const std::vector<ImVec2>& corners : fill.polygons) {
        const Box box = box_around(corners);
        extent = {{std::min(extent.low.x, box.low.x), std::min(extent.low.y, box.low.y)},
                  {std::max(extent.high.x, box.high.x), std::max(extent.high.y, box.high.y)}};
        data += path_of(corners, true);
    }
    const auto circle = fill.polygons.size() == 1 ? circle_of(fill.polygons[0]) : std::nullopt;
    page_.add(
        circle ? circle_element(*circle, paint) : fmt::format("<path d=\"{}\" {}/>", data, paint),
        extent, fill.clip);
}

}  // namespace aft::viz

// SvgShapes: polygons in plain colours as rectangles, strokes, gradients, circles and paths of an
// SvgPage. What belongs together becomes one element: the pieces of a line a stroke, triangles that
// share an edge a path, the pieces of a colour bar one gradient. One owner, any thread.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "viz/svg/draw_polygons.h"
#include "viz/svg/svg_page.h"

namespace aft::viz {

class SvgShapes {
  public:
    explicit SvgShapes(SvgPage& page) : page_(page) {}
    // Anything else must not be added to the page between add() and flush().
    void add(const DrawPolygon& polygon, const Box& clip);
    void flush();

  private:
    struct SvgStroke {
        std::vector<ImVec2> points;
        float width = 0;
        ImU32 color = 0;
        Box clip;
    };
    struct SvgGradient {
        Box box;
        bool is_level = false;  // colours change along x, else along y
        struct Stop {
            float at = 0;  // pixels
            ImU32 color = 0;
        };
        std::vector<Stop> stops;
        Box clip;
    };
    struct SvgFill {
        std::vector<std::vector<ImVec2>> polygons;  // all turn the same way
        ImU32 color = 0;
        Box clip;
    };
    [[nodiscard]] bool add_gradient(const DrawPolygon& polygon, const Box& clip);
    [[nodiscard]] bool add_stroke(const DrawPolygon& polygon, const Box& clip);
    void add_fill(const DrawPolygon& polygon, const Box& clip);
    void write(const SvgStroke& stroke);
    void write(const SvgGradient& gradient);
    void write(const SvgFill& fill);

    SvgPage& page_;
    // At most one of them is there.
    std::optional<SvgStroke> stroke_;
    std::optional<SvgGradient> gradient_;
    std::optional<SvgFill> fill_;
};

}  // namespace aft::viz

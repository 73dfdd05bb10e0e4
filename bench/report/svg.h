// A picture in SVG, light and dark by the reader's setting: shapes with class names, colours in one
// style sheet (the tokens of the interface). Pure functions, any thread. No LibTorch.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace aft::bench {

struct SvgPoint {
    double x = 0, y = 0;
};
struct SvgRect {
    double x = 0, y = 0, width = 0, height = 0;
    [[nodiscard]] double right() const { return x + width; }
    [[nodiscard]] double bottom() const { return y + height; }
};

enum class TextAnchor { start, middle, end };

class Svg {
  public:
    void text(const SvgPoint& at, std::string_view words, std::string_view style,
              TextAnchor anchor = TextAnchor::start);
    void line(const SvgPoint& from, const SvgPoint& to, std::string_view style);
    void curve(const std::vector<SvgPoint>& points, std::string_view style);
    void dot(const SvgPoint& at, std::string_view style);
    void bar(const SvgRect& box, std::string_view style);
    // The whole document, on the ground of a pane.
    [[nodiscard]] std::string document(double width, double height, std::string_view title) const;

  private:
    std::string body_;
};

}  // namespace aft::bench

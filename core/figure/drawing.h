// FigureDrawing: a figure as a list of marks, which becomes SVG with real text or pixels with real
// fonts. Plain data and pure functions, any thread. Units are pixels at scale 1, y downwards;
// colours are 0xRRGGBB.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/images/image.h"

namespace aft {

struct DrawPoint {
    double x = 0, y = 0;
};
struct DrawBox {
    double x = 0, y = 0, width = 0, height = 0;
    [[nodiscard]] double right() const { return x + width; }
    [[nodiscard]] double bottom() const { return y + height; }
};

enum class DrawAnchor { start, middle, end };

struct TextMark {
    DrawPoint at = {};  // of the baseline
    std::string words = {};
    double size = 12;  // of the em
    uint32_t ink = 0;
    DrawAnchor anchor = DrawAnchor::start;
    bool is_bold = false;
};
struct FillMark {
    DrawBox box = {};
    uint32_t ink = 0;
};
struct HatchMark {  // 45 degrees, 6 apart, 1.2 wide
    DrawBox box = {};
    uint32_t ground = 0, line = 0;
};
struct LineMark {
    std::vector<DrawPoint> points = {};
    uint32_t ink = 0;
    double width = 1, opacity = 1;
};
struct DotMark {
    DrawPoint at = {};
    double radius = 3;
    uint32_t ink = 0;
};
struct ImageMark {  // enlarged without smoothing; of 4 channels, alpha 0 shows what is below
    DrawBox box = {};
    Image image = {};
};
using DrawMark = std::variant<TextMark, FillMark, HatchMark, LineMark, DotMark, ImageMark>;

struct FigureDrawing {
    double width = 0, height = 0;
    uint32_t ground = 0xFFFFFF;
    std::string title = {};  // for readers that show no picture
    std::vector<DrawMark> marks = {};
};

// A document of its own: text stays text (Inter where it is installed), pictures are embedded PNG.
// Characters that XML does not allow are left out.
[[nodiscard]] std::string to_svg(const FigureDrawing& drawing);

// width x scale by height x scale, RGB. Error where that is beyond the limits of a picture, or no
// font is found (Inter, else DejaVu Sans). scale: 1 to 4.
[[nodiscard]] Image to_image(const FigureDrawing& drawing, int scale);

// How wide the words are in Inter, in the units of `size`; of a table, so that a layout is the same
// with and without the font.
[[nodiscard]] double text_width(std::string_view words, double size, bool is_bold = false);

}  // namespace aft

// SVG: numbers, colours and pictures as attributes of SVG write them, for every writer of SVG.
// Pure, any thread.
#pragma once
#include <cstdint>
#include <string>

#include "core/images/image.h"

namespace aft {

// At most two decimals, as many as it needs; finite numbers only.
[[nodiscard]] std::string svg_number(double v);
[[nodiscard]] std::string svg_color(uint32_t ink);  // 0xRRGGBB -> "#RRGGBB"
// "data:image/png;base64,...". Error where the picture is empty or beyond the limits of one.
[[nodiscard]] std::string png_data_uri(const Image& image);

}  // namespace aft

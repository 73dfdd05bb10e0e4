// Colours of what is plotted, 0xRRGGBB, on a dark and on a light ground: the window's theme and the
// figures of the benchmark take them. Constant data; any thread.
#pragma once
#include <array>
#include <cstdint>

namespace aft {

struct PlotColors {
    uint32_t pane, line;               // ground; hairlines and grid
    uint32_t text1, text2, text3;      // values; labels; hints, units, axes
    std::array<uint32_t, 8> series{};  // runs and lines, in this order
};

inline constexpr PlotColors kPlotColorsDark{
    .pane = 0x15171A,
    .line = 0x282C31,
    .text1 = 0xE6E9EC,
    .text2 = 0xABB2BA,
    .text3 = 0x8E96A0,
    .series = {0x85B4FF, 0xFF9F19, 0x4FE0CE, 0xD666B8, 0xF4DC7E, 0xEB5C30, 0x8877FA, 0x9A9A8E}};
inline constexpr PlotColors kPlotColorsLight{
    .pane = 0xFAFAFA,
    .line = 0xDFE2E6,
    .text1 = 0x16191D,
    .text2 = 0x4A515A,
    .text3 = 0x5A626B,
    .series = {0x266DD8, 0xB45B0B, 0x1B6C55, 0x9E528D, 0x7D7442, 0x7F1A04, 0x400B93, 0x282F38}};

}  // namespace aft

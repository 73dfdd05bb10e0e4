#include "viz/theme_colors.h"

#include <algorithm>
#include <cmath>

namespace aft::viz {
namespace {

constexpr std::array<uint32_t, 8> kDarkSeries = {0x85B4FF, 0xFF9F19, 0x4FE0CE, 0xD666B8,
                                                 0xF4DC7E, 0xEB5C30, 0x8877FA, 0x9A9A8E};
constexpr std::array<uint32_t, 8> kLightSeries = {0x266DD8, 0xB45B0B, 0x1B6C55, 0x9E528D,
                                                  0x7D7442, 0x7F1A04, 0x400B93, 0x282F38};

constexpr ThemeColors kDark = {.gap = 0x0B0C0E,
                               .bar = 0x0F1113,
                               .pane = 0x15171A,
                               .raised = 0x1C1F23,
                               .field = 0x23272C,
                               .hover = 0x2B3036,
                               .pressed = 0x353B42,
                               .line = 0x282C31,
                               .strong = 0x434A53,
                               .text1 = 0xE6E9EC,
                               .text2 = 0xABB2BA,
                               .text3 = 0x8E96A0,
                               .accent = 0x8FB0FF,
                               .selected = 0x23304F,
                               .fill = 0x4169E8,
                               .fill_hover = 0x385FDB,
                               .fill_pressed = 0x2F53C6,
                               .on_fill = 0xFFFFFF,
                               .ok = 0x4CC38A,
                               .warn = 0xF0B849,
                               .error = 0xFF7A70,
                               .hatch_ground = 0x1B1E22,
                               .hatch_line = 0x343A41,
                               .nan = 0xFF2BD6,
                               .series = kDarkSeries,
                               .diverging = Colormap::ember_dark,
                               .is_light = false,
                               .draws_outlines = false,
                               .switch_off = 0x353B42,
                               .switch_knob = 0xABB2BA};

constexpr ThemeColors kLight = {.gap = 0xD5D8DC,
                                .bar = 0xE6E8EB,
                                .pane = 0xFAFAFA,
                                .raised = 0xF1F2F4,
                                .field = 0xE8EAED,
                                .hover = 0xDFE2E6,
                                .pressed = 0xD2D6DB,
                                .line = 0xDFE2E6,
                                .strong = 0xAEB5BD,
                                .text1 = 0x16191D,
                                .text2 = 0x4A515A,
                                .text3 = 0x5A626B,
                                .accent = 0x2B52CC,
                                .selected = 0xDFE7FB,
                                .fill = 0x3459D6,
                                .fill_hover = 0x2A4CC0,
                                .fill_pressed = 0x2443AD,
                                .on_fill = 0xFFFFFF,
                                .ok = 0x12744A,
                                .warn = 0x8A5800,
                                .error = 0xBF2A22,
                                .hatch_ground = 0xEDEEF0,
                                .hatch_line = 0xC3C8CE,
                                .nan = 0xD100A9,
                                .series = kLightSeries,
                                .diverging = Colormap::ember_light,
                                .is_light = true,
                                .draws_outlines = false,
                                .switch_off = 0x7C858F,
                                .switch_knob = 0xFAFAFA};

constexpr ThemeColors kHighContrast = {.gap = 0x8A8A8A,
                                       .bar = 0x000000,
                                       .pane = 0x000000,
                                       .raised = 0x121212,
                                       .field = 0x1C1C1C,
                                       .hover = 0x2E2E2E,
                                       .pressed = 0x404040,
                                       .line = 0x8A8A8A,
                                       .strong = 0xFFFFFF,
                                       .text1 = 0xFFFFFF,
                                       .text2 = 0xE4E4E4,
                                       .text3 = 0xC4C4C4,
                                       .accent = 0xFFD83D,
                                       .selected = 0x3A3300,
                                       .fill = 0xFFD83D,
                                       .fill_hover = 0xFFD83D,
                                       .fill_pressed = 0xFFD83D,
                                       .on_fill = 0x000000,
                                       .ok = 0x5CF2A5,
                                       .warn = 0xFFC247,
                                       .error = 0xFF9A92,
                                       .hatch_ground = 0x000000,
                                       .hatch_line = 0x8A8A8A,
                                       .nan = 0xFF2BD6,
                                       .series = kDarkSeries,
                                       .diverging = Colormap::ember_dark,
                                       .is_light = false,
                                       .draws_outlines = true,
                                       .switch_off = 0x404040,
                                       .switch_knob = 0xE4E4E4};

double luminance(uint32_t rgb) {
    const auto linear = [&](int shift) {
        const double v = ((rgb >> shift) & 0xFF) / 255.0;
        return v <= 0.03928 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * linear(16) + 0.7152 * linear(8) + 0.0722 * linear(0);
}

}  // namespace

const ThemeColors& theme_colors(ThemeName name) {
    switch (name) {
        case ThemeName::light:
            return kLight;
        case ThemeName::high_contrast:
            return kHighContrast;
        case ThemeName::dark:
            break;
    }
    return kDark;
}

double contrast_ratio(uint32_t a, uint32_t b) {
    const double la = luminance(a), lb = luminance(b);
    return (std::max(la, lb) + 0.05) / (std::min(la, lb) + 0.05);
}

uint32_t ink_on(uint32_t ground) {
    constexpr uint32_t kDarkInk = 0x0B0C0E, kLightInk = 0xF2F4F6;
    return contrast_ratio(ground, kDarkInk) > contrast_ratio(ground, kLightInk) ? kDarkInk
                                                                                : kLightInk;
}

uint32_t ordered_color(double share, bool on_light) {
    const double part = std::clamp(share, 0.0, 1.0);
    const double at = on_light ? 0.1 + 0.6 * part : 0.35 + 0.6 * part;
    const Rgb c = colormap_table(Colormap::viridis)[static_cast<size_t>(at * 255)];
    return uint32_t{c[0]} << 16 | uint32_t{c[1]} << 8 | c[2];
}

}  // namespace aft::viz

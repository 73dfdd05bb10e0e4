#include "viz/theme.h"

#include <algorithm>
#include <cmath>

#include "core/images/plot_colors.h"

namespace aft::viz {
namespace {

constexpr std::array<ImU32, 8> series_of(const PlotColors& colors) {
    std::array<ImU32, 8> out{};
    for (size_t i = 0; i < out.size(); ++i) out[i] = rgb(colors.series[i]);
    return out;
}

constexpr Theme kDark = {.name = ThemeName::dark,
                         .gap = rgb(0x0B0C0E),
                         .bar = rgb(0x0F1113),
                         .pane = rgb(kPlotColorsDark.pane),
                         .raised = rgb(0x1C1F23),
                         .field = rgb(0x23272C),
                         .field_hover = rgb(0x2B3036),
                         .field_pressed = rgb(0x353B42),
                         .line = rgb(kPlotColorsDark.line),
                         .strong = rgb(0x434A53),
                         .text1 = rgb(kPlotColorsDark.text1),
                         .text2 = rgb(kPlotColorsDark.text2),
                         .text3 = rgb(kPlotColorsDark.text3),
                         .accent = rgb(0x8FB0FF),
                         .selected = rgb(0x23304F),
                         .fill = rgb(0x4169E8),
                         .fill_hover = rgb(0x385FDB),
                         .fill_pressed = rgb(0x2F53C6),
                         .ink = rgb(0xFFFFFF),
                         .ok = rgb(0x4CC38A),
                         .warn = rgb(0xF0B849),
                         .error = rgb(0xFF7A70),
                         .hatch_ground = rgb(0x1B1E22),
                         .hatch_line = rgb(0x343A41),
                         .nan = rgb(0xFF2BD6),
                         .series = series_of(kPlotColorsDark),
                         .diverging = Colormap::ember_dark,
                         .track = rgb(0x353B42),
                         .knob = rgb(0xABB2BA)};

constexpr Theme kLight = {.name = ThemeName::light,
                          .gap = rgb(0xD5D8DC),
                          .bar = rgb(0xE6E8EB),
                          .pane = rgb(kPlotColorsLight.pane),
                          .raised = rgb(0xF1F2F4),
                          .field = rgb(0xE8EAED),
                          .field_hover = rgb(0xDFE2E6),
                          .field_pressed = rgb(0xD2D6DB),
                          .line = rgb(kPlotColorsLight.line),
                          .strong = rgb(0xAEB5BD),
                          .text1 = rgb(kPlotColorsLight.text1),
                          .text2 = rgb(kPlotColorsLight.text2),
                          .text3 = rgb(kPlotColorsLight.text3),
                          .accent = rgb(0x2B52CC),
                          .selected = rgb(0xDFE7FB),
                          .fill = rgb(0x3459D6),
                          .fill_hover = rgb(0x2A4CC0),
                          .fill_pressed = rgb(0x2443AD),
                          .ink = rgb(0xFFFFFF),
                          .ok = rgb(0x12744A),
                          .warn = rgb(0x8A5800),
                          .error = rgb(0xBF2A22),
                          .hatch_ground = rgb(0xEDEEF0),
                          .hatch_line = rgb(0xC3C8CE),
                          .nan = rgb(0xD100A9),
                          .series = series_of(kPlotColorsLight),
                          .diverging = Colormap::ember_light,
                          .track = rgb(0x7C858F),
                          .knob = rgb(0xFAFAFA)};

constexpr Theme kHighContrast = {.name = ThemeName::high_contrast,
                                 .gap = rgb(0x8A8A8A),
                                 .bar = rgb(0x000000),
                                 .pane = rgb(0x000000),
                                 .raised = rgb(0x121212),
                                 .field = rgb(0x1C1C1C),
                                 .field_hover = rgb(0x2E2E2E),
                                 .field_pressed = rgb(0x404040),
                                 .line = rgb(0x8A8A8A),
                                 .strong = rgb(0xFFFFFF),
                                 .text1 = rgb(0xFFFFFF),
                                 .text2 = rgb(0xE4E4E4),
                                 .text3 = rgb(0xC4C4C4),
                                 .accent = rgb(0xFFD83D),
                                 .selected = rgb(0x3A3300),
                                 .fill = rgb(0xFFD83D),
                                 .fill_hover = rgb(0xFFD83D),
                                 .fill_pressed = rgb(0xFFD83D),
                                 .ink = rgb(0x000000),
                                 .ok = rgb(0x5CF2A5),
                                 .warn = rgb(0xFFC247),
                                 .error = rgb(0xFF9A92),
                                 .hatch_ground = rgb(0x000000),
                                 .hatch_line = rgb(0x8A8A8A),
                                 .nan = rgb(0xFF2BD6),
                                 .series = series_of(kPlotColorsDark),
                                 .diverging = Colormap::ember_dark,
                                 .track = rgb(0x404040),
                                 .knob = rgb(0xE4E4E4)};

double luminance(ImU32 color) {
    const auto linear = [&](int shift) {
        const double v = ((color >> shift) & 0xFF) / 255.0;
        return v <= 0.03928 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * linear(IM_COL32_R_SHIFT) + 0.7152 * linear(IM_COL32_G_SHIFT) +
           0.0722 * linear(IM_COL32_B_SHIFT);
}

}  // namespace

const Theme& theme_of(ThemeName name) {
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

ImU32 with_alpha(ImU32 color, float alpha) {
    const auto a = static_cast<ImU32>(std::lround(std::clamp(alpha, 0.0F, 1.0F) * 255));
    return (color & ~IM_COL32_A_MASK) | (a << IM_COL32_A_SHIFT);
}

ImU32 mix(ImU32 ground, ImU32 color, float share) {
    const ImVec4 a = to_vec4(ground), b = to_vec4(color);
    const auto part = [share](float x, float y) { return x + (y - x) * share; };
    return ImGui::ColorConvertFloat4ToU32({part(a.x, b.x), part(a.y, b.y), part(a.z, b.z), 1});
}

ImVec4 to_vec4(ImU32 color) {
    return ImGui::ColorConvertU32ToFloat4(color);
}

double contrast_ratio(ImU32 a, ImU32 b) {
    const double la = luminance(a), lb = luminance(b);
    return (std::max(la, lb) + 0.05) / (std::min(la, lb) + 0.05);
}

ImU32 ink_on(ImU32 ground) {
    constexpr uint32_t kDarkInk = rgb(0x0B0C0E), kLightInk = rgb(0xF2F4F6);
    return contrast_ratio(ground, kDarkInk) > contrast_ratio(ground, kLightInk) ? kDarkInk
                                                                                : kLightInk;
}

ImU32 ordered_color(double share, bool on_light) {
    const double part = std::clamp(share, 0.0, 1.0);
    const double at = on_light ? 0.1 + 0.6 * part : 0.35 + 0.6 * part;
    const Rgb c = colormap_table(Colormap::viridis)[static_cast<size_t>(at * 255)];
    return IM_COL32(c[0], c[1], c[2], 255);
}

}  // namespace aft::viz

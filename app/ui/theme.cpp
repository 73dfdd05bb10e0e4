#include "app/ui/theme.h"

#include <implot.h>

#include <cmath>

namespace aft::app {

namespace {

constexpr ImU32 rgb(uint32_t hex) {
    return IM_COL32((hex >> 16) & 255, (hex >> 8) & 255, hex & 255, 255);
}

constexpr std::array<ImU32, 8> kDarkSeries = {rgb(0x85B4FF), rgb(0xFF9F19), rgb(0x4FE0CE),
                                              rgb(0xD666B8), rgb(0xF4DC7E), rgb(0xEB5C30),
                                              rgb(0x8877FA), rgb(0x9A9A8E)};
constexpr std::array<ImU32, 8> kLightSeries = {rgb(0x266DD8), rgb(0xB45B0B), rgb(0x1B6C55),
                                               rgb(0x9E528D), rgb(0x7D7442), rgb(0x7F1A04),
                                               rgb(0x400B93), rgb(0x282F38)};

Theme dark() {
    return {.name = ThemeName::dark,
            .gap = rgb(0x0B0C0E),
            .bar = rgb(0x0F1113),
            .pane = rgb(0x15171A),
            .raised = rgb(0x1C1F23),
            .field = rgb(0x23272C),
            .field_hover = rgb(0x2B3036),
            .field_pressed = rgb(0x353B42),
            .line = rgb(0x282C31),
            .strong = rgb(0x434A53),
            .text1 = rgb(0xE6E9EC),
            .text2 = rgb(0xABB2BA),
            .text3 = rgb(0x8E96A0),
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
            .knob = rgb(0xABB2BA),
            .track = rgb(0x353B42),
            .series = kDarkSeries};
}

Theme light() {
    return {.name = ThemeName::light,
            .gap = rgb(0xD5D8DC),
            .bar = rgb(0xE6E8EB),
            .pane = rgb(0xFAFAFA),
            .raised = rgb(0xF1F2F4),
            .field = rgb(0xE8EAED),
            .field_hover = rgb(0xDFE2E6),
            .field_pressed = rgb(0xD2D6DB),
            .line = rgb(0xDFE2E6),
            .strong = rgb(0xAEB5BD),
            .text1 = rgb(0x16191D),
            .text2 = rgb(0x4A515A),
            .text3 = rgb(0x5A626B),
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
            .knob = rgb(0xFAFAFA),
            .track = rgb(0x7C858F),
            .series = kLightSeries};
}

Theme high_contrast() {
    return {.name = ThemeName::high_contrast,
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
            .knob = rgb(0xE4E4E4),
            .track = rgb(0x404040),
            .series = kDarkSeries};
}

void set_sizes(ImGuiStyle& s, const Theme& theme) {
    s.FontSizeBase = 16;
    s.WindowPadding = {12, 10};
    s.WindowRounding = s.WindowBorderSize = 0;
    s.WindowMenuButtonPosition = ImGuiDir_None;
    s.WindowMinSize = {24, 24};
    s.ChildRounding = s.ChildBorderSize = 0;
    s.PopupRounding = 8;
    s.PopupBorderSize = 1;
    s.FramePadding = {10, 5};
    s.FrameRounding = 4;
    s.FrameBorderSize = theme.is_outlined() ? 1.0f : 0.0f;
    s.ItemSpacing = {8, 6};
    s.ItemInnerSpacing = {6, 4};
    s.CellPadding = {8, 4};
    s.ScrollbarSize = 10;
    s.ScrollbarRounding = 5;
    s.ScrollbarPadding = 2;
    s.GrabMinSize = 12;
    s.GrabRounding = 6;
    s.TabRounding = s.TabBorderSize = s.TabBarBorderSize = 0;
    s.TabBarOverlineSize = 2;
    s.DockingSeparatorSize = 2;
    s.DockingNodeHasCloseButton = false;
    s.SeparatorTextBorderSize = 1;
    s.IndentSpacing = 16;
    s.AntiAliasedLines = s.AntiAliasedFill = true;
}

void set_colors(ImGuiStyle& s, const Theme& t) {
    const auto set = [&s](std::initializer_list<int> which, ImU32 color) {
        for (const int index : which) s.Colors[index] = to_vec4(color);
    };
    set({ImGuiCol_Text}, t.text1);
    set({ImGuiCol_TextDisabled}, t.text3);
    set({ImGuiCol_WindowBg, ImGuiCol_TabSelected, ImGuiCol_TabDimmedSelected,
         ImGuiCol_DockingEmptyBg},
        t.pane);
    set({ImGuiCol_ChildBg, ImGuiCol_BorderShadow, ImGuiCol_TableRowBg, ImGuiCol_TableRowBgAlt,
         ImGuiCol_ScrollbarBg, ImGuiCol_TableHeaderBg},
        0);
    set({ImGuiCol_TitleBg, ImGuiCol_TitleBgActive, ImGuiCol_TitleBgCollapsed, ImGuiCol_MenuBarBg,
         ImGuiCol_Tab, ImGuiCol_TabDimmed},
        t.bar);
    set({ImGuiCol_TabHovered}, t.field);
    set({ImGuiCol_TabSelectedOverline, ImGuiCol_CheckMark, ImGuiCol_SliderGrab,
         ImGuiCol_SliderGrabActive, ImGuiCol_SeparatorHovered, ImGuiCol_SeparatorActive,
         ImGuiCol_NavCursor, ImGuiCol_InputTextCursor, ImGuiCol_TextLink, ImGuiCol_DragDropTarget,
         ImGuiCol_PlotLines, ImGuiCol_PlotHistogram},
        t.accent);
    set({ImGuiCol_TabDimmedSelectedOverline}, t.strong);
    set({ImGuiCol_PopupBg}, t.raised);
    set({ImGuiCol_Border, ImGuiCol_Separator}, t.gap);
    set({ImGuiCol_FrameBg, ImGuiCol_Button}, t.field);
    set({ImGuiCol_FrameBgHovered, ImGuiCol_ButtonHovered}, t.field_hover);
    set({ImGuiCol_FrameBgActive, ImGuiCol_ButtonActive, ImGuiCol_ScrollbarGrab}, t.field_pressed);
    set({ImGuiCol_ScrollbarGrabHovered, ImGuiCol_ScrollbarGrabActive}, t.strong);
    set({ImGuiCol_Header}, t.selected);
    set({ImGuiCol_HeaderHovered, ImGuiCol_HeaderActive}, t.field_hover);
    set({ImGuiCol_TableBorderStrong, ImGuiCol_TableBorderLight}, t.line);
    set({ImGuiCol_ResizeGrip, ImGuiCol_ResizeGripHovered, ImGuiCol_ResizeGripActive}, 0);
    set({ImGuiCol_TextSelectedBg}, with_alpha(t.accent, 0.35f));
    set({ImGuiCol_DockingPreview}, with_alpha(t.accent, 0.3f));
    set({ImGuiCol_ModalWindowDimBg}, IM_COL32(0, 0, 0, 115));
    if (t.is_outlined()) set({ImGuiCol_Border}, t.line);
}

void set_plots(ImPlotStyle& p, const Theme& t) {
    const auto size = [&t](float x, float y) { return ImVec2(t.px(x), t.px(y)); };
    p.PlotBorderSize = 0;
    p.MinorAlpha = 0.45f;
    p.MajorTickLen = p.MinorTickLen = {0, 0};
    p.MajorGridSize = p.MinorGridSize = {1, 1};
    p.PlotPadding = size(14, 6);
    p.LabelPadding = size(6, 4);
    p.LegendPadding = size(8, 6);
    p.LegendInnerPadding = size(6, 4);
    p.LegendSpacing = size(10, 2);
    p.MousePosPadding = size(8, 6);
    p.AnnotationPadding = size(4, 2);
    p.PlotMinSize = size(80, 40);
    p.FitPadding = {0, 0.05f};
    for (ImVec4& color : p.Colors) color = {0, 0, 0, 0};
    p.Colors[ImPlotCol_TitleText] = to_vec4(t.text1);
    p.Colors[ImPlotCol_AxisText] = to_vec4(t.text3);
    p.Colors[ImPlotCol_AxisGrid] = to_vec4(t.is_outlined() ? with_alpha(t.line, 0.4f) : t.line);
    p.Colors[ImPlotCol_LegendText] = p.Colors[ImPlotCol_InlayText] = to_vec4(t.text2);
    p.Colors[ImPlotCol_Selection] = to_vec4(t.accent);
    p.Colors[ImPlotCol_Crosshairs] = to_vec4(t.text2);
}

}  // namespace

const char* theme_word(ThemeName name) {
    switch (name) {
        case ThemeName::dark:
            return "dark";
        case ThemeName::light:
            return "light";
        case ThemeName::high_contrast:
            return "high-contrast";
    }
    return "dark";
}

float Theme::px(float value) const {
    return std::round(value * scale);
}

Theme make_theme(ThemeName name, float scale) {
    Theme theme = name == ThemeName::light  ? light()
                  : name == ThemeName::dark ? dark()
                                            : high_contrast();
    theme.scale = scale;
    return theme;
}

void apply_theme(const Theme& theme) {
    ImGuiStyle style;
    set_sizes(style, theme);
    set_colors(style, theme);
    style.ScaleAllSizes(theme.scale);
    // Set after scaling: one word each, not a size.
    style.DisabledAlpha = 0.45f;
    style.HoverDelayShort = 0.15f;
    style.HoverDelayNormal = 0.40f;
    style.FontScaleDpi = theme.scale;
    ImGui::GetStyle() = style;
    if (ImPlot::GetCurrentContext() != nullptr) set_plots(ImPlot::GetStyle(), theme);
}

ImU32 with_alpha(ImU32 color, float alpha) {
    const auto a = static_cast<ImU32>(std::lround(alpha * 255));
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

}  // namespace aft::app

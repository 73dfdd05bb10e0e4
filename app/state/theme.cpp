#include "app/state/theme.h"

#include <implot.h>

#include <algorithm>
#include <cmath>

namespace aft::app {

namespace {

constexpr ImU32 rgb(uint32_t hex) {
    return IM_COL32((hex >> 16) & 255, (hex >> 8) & 255, hex & 255, 255);
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
    const viz::ThemeColors& c = viz::theme_colors(name);
    Theme t;
    t.name = name;
    t.scale = scale;
    t.gap = rgb(c.gap), t.bar = rgb(c.bar), t.pane = rgb(c.pane), t.raised = rgb(c.raised);
    t.field = rgb(c.field), t.field_hover = rgb(c.hover), t.field_pressed = rgb(c.pressed);
    t.line = rgb(c.line), t.strong = rgb(c.strong);
    t.text1 = rgb(c.text1), t.text2 = rgb(c.text2), t.text3 = rgb(c.text3);
    t.accent = rgb(c.accent), t.selected = rgb(c.selected);
    t.fill = rgb(c.fill), t.fill_hover = rgb(c.fill_hover), t.fill_pressed = rgb(c.fill_pressed);
    t.ink = rgb(c.on_fill);
    t.ok = rgb(c.ok), t.warn = rgb(c.warn), t.error = rgb(c.error);
    t.hatch_ground = rgb(c.hatch_ground), t.hatch_line = rgb(c.hatch_line), t.nan = rgb(c.nan);
    t.knob = rgb(c.switch_knob), t.track = rgb(c.switch_off);
    std::transform(c.series.begin(), c.series.end(), t.series.begin(), rgb);
    return t;
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

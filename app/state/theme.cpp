#include "app/state/theme.h"

#include <implot.h>

#include <cmath>

namespace aft::app {

namespace {

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

void set_plots(ImPlotStyle& p, const Theme& t, float scale) {
    const auto size = [scale](float x, float y) {
        return ImVec2(std::round(x * scale), std::round(y * scale));
    };
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
    p.Colors[ImPlotCol_AxisGrid] = to_vec4(t.is_outlined() ? with_alpha(t.line, 0.8f) : t.line);
    p.Colors[ImPlotCol_LegendText] = p.Colors[ImPlotCol_InlayText] = to_vec4(t.text2);
    p.Colors[ImPlotCol_Selection] = to_vec4(t.accent);
    p.Colors[ImPlotCol_Crosshairs] = to_vec4(t.text2);
}

}  // namespace

void apply_theme(const Theme& theme, float scale) {
    ImGuiStyle style;
    set_sizes(style, theme);
    set_colors(style, theme);
    style.ScaleAllSizes(scale);
    // Set after scaling: one word each, not a size.
    style.DisabledAlpha = 0.45f;
    style.HoverDelayShort = 0.15f;
    style.HoverDelayNormal = 0.40f;
    style.FontScaleDpi = scale;
    ImGui::GetStyle() = style;
    if (ImPlot::GetCurrentContext() != nullptr) set_plots(ImPlot::GetStyle(), theme, scale);
}

}  // namespace aft::app

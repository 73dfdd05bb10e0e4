// What Dear ImGui drew, as an SVG document with real text: letters are words in their fonts, plain
// shapes are paths, pictures are embedded. Called by the window for a frame that is saved. Window
// thread, between ImGui::Render() and the next ImGui::NewFrame().
#pragma once
#include <imgui.h>

#include <functional>
#include <string>

#include "core/images/image.h"

namespace aft::viz {

struct SvgView {
    ImVec2 low, high;  // the region, in pixels of the display as the draw data have them
    ImU32 ground = 0;  // below everything; transparent: none
    std::string title = {};
};

// Plain shapes: a drawing with soft edges is understood, but makes larger documents of many small
// triangles. Switch off AntiAliasedLines, AntiAliasedLinesUseTex and AntiAliasedFill of
// ImGui::GetStyle() before the ImGui::NewFrame() of the frame that is drawn for it, and on again
// after. Letters are found in the atlas of `data` as it is now: draw the frame once before, so that
// none of them is new to it.
//
// read_texture: the pixels of a texture that is not Dear ImGui's own, row 0 at texture coordinate
// 0; an empty picture is left out. Asked once for each texture that is shown. Callbacks in the draw
// lists are not called. Error where the region is empty. Cost: some milliseconds, and those of
// compressing the pictures.
[[nodiscard]] std::string draw_data_svg(const ImDrawData& data, const SvgView& view,
                                        const std::function<Image(ImTextureID)>& read_texture);

}  // namespace aft::viz

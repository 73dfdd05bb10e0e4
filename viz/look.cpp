#include "viz/look.h"

#include <algorithm>
#include <cmath>

#include "viz/painter.h"

namespace aft::viz {

// Without OpenGL: line by line.
static void draw_hatch_lines(const Look& look, const Box& box, ImU32 ground, float pitch) {
    ImDrawList* const list = ImGui::GetWindowDrawList();
    list->PushClipRect(box.low, box.high, true);
    list->AddRectFilled(box.low, box.high, ground);
    const float height = box.height();
    const float first = box.low.x - std::fmod(box.low.x + box.low.y, pitch);
    for (float x = first; x < box.high.x + height; x += pitch)
        list->AddLine({x - height, box.high.y}, {x, box.low.y}, look.theme.hatch_line,
                      kHatchLine * look.scale);
    list->PopClipRect();
}

// One rectangle whose texture repeats along x + y: its lines as triangles took the processor 5.5
// ms of 512x256 pixels, this takes 1.0. They hang on the screen's grid, so neighbours join.
static void draw_hatch_on(const Look& look, const Box& box, ImU32 ground) {
    const float pitch = kHatchPitch * look.scale * std::sqrt(2.0F);
    if (look.painter == nullptr) return draw_hatch_lines(look, box, ground, pitch);
    const auto uv = [&](float x, float y) { return ImVec2{(x + y - 1) / pitch, 0.5F}; };
    const auto& [low, high] = box;
    ImGui::GetWindowDrawList()->AddImageQuad(
        look.painter->hatch(ground, look.theme.hatch_line, look.scale), low, {high.x, low.y}, high,
        {low.x, high.y}, uv(low.x, low.y), uv(high.x, low.y), uv(high.x, high.y),
        uv(low.x, high.y));
}

void draw_hatch(const Look& look, const Box& box) {
    draw_hatch_on(look, box, look.theme.hatch_ground);
}

ImU32 mask_ground(const Theme& theme) {
    return mix(theme.hatch_ground, theme.text3, 0.45F);
}

void draw_mask_hatch(const Look& look, const Box& box) {
    draw_hatch_on(look, box, mask_ground(look.theme));
}

static void draw_ring_line(const Box& box, float out, float thick, ImU32 color) {
    // AddRect strokes along the middle of its line, half a pixel inside of its corners.
    const float o = out - thick / 2 + 0.5F;
    ImGui::GetWindowDrawList()->AddRect({box.low.x - o, box.low.y - o},
                                        {box.high.x + o, box.high.y + o}, color, 0, 0, thick);
}

static ImU32 ring_rim() {
    return with_alpha(rgb(0x0B0C0E), 0.85F);
}

void draw_open_ring(const Look& look, const Box& box, ImU32 color, float width) {
    const float w = look.px(width), rim = look.px(1);
    draw_ring_line(box, w + rim, rim, ring_rim());
    draw_ring_line(box, w, w, color);
}

void draw_ring(const Look& look, const Box& box, ImU32 color, float width) {
    draw_open_ring(look, box, color, width);
    draw_ring_line(box, 0, look.px(1), ring_rim());
}

void draw_cell_ring(const Look& look, const Box& cell, ImU32 color, float width) {
    constexpr float kLeastFree = 3;
    if (!is_tiny_cell(look, std::min(cell.width(), cell.height())))
        return draw_ring(look, cell, color, width);
    // A thin ring has its line and its rim on either side.
    const float thin = width > 1 ? 4 * look.px(1) : 0;
    const auto out = [&](float side) {
        return std::max(0.0F, std::ceil((look.px(kLeastFree) + thin - side) / 2));
    };
    const float x = out(cell.width()), y = out(cell.height());
    draw_open_ring(look, {{cell.low.x - x, cell.low.y - y}, {cell.high.x + x, cell.high.y + y}},
                   color, width);
}

void draw_cell_rings(const Look& look, const Box* source, const Box* target) {
    const auto draw_source = [&] {
        if (source != nullptr) draw_cell_ring(look, *source, rgb(0xFFFFFF), 1);
    };
    // Within the wider one, which would cover it, where that stands further out.
    const bool is_last =
        source != nullptr && is_tiny_cell(look, std::min(source->width(), source->height()));
    if (!is_last) draw_source();
    if (target != nullptr) draw_cell_ring(look, *target, look.theme.accent, 2);
    if (is_last) draw_source();
}

bool is_tiny_cell(const Look& look, float side) {
    return side < look.px(6);
}

float ring_reach(const Look& look, float side) {
    return look.px(is_tiny_cell(look, side) ? 7 : 4);
}

void draw_not_finite(const Look& look, const Box& box, float value) {
    ImDrawList* const list = ImGui::GetWindowDrawList();
    list->AddRectFilled(box.low, box.high, look.theme.nan);
    const float side = std::min(box.width(), box.height());
    if (side < 8) return;
    const ImU32 dark = rgb(0x0B0C0E);
    const ImVec2 middle = {(box.low.x + box.high.x) / 2, (box.low.y + box.high.y) / 2};
    const float thick = std::max(1.0F, side / 24);
    if (std::isnan(value)) {
        const float r = side * 0.28F;
        list->AddLine({middle.x - r, middle.y - r}, {middle.x + r, middle.y + r}, dark, thick);
        list->AddLine({middle.x - r, middle.y + r}, {middle.x + r, middle.y - r}, dark, thick);
        return;
    }
    const float r = side * 0.11F;  // two circles that touch: an infinity sign
    list->AddCircle({middle.x - r, middle.y}, r, dark, 0, thick);
    list->AddCircle({middle.x + r, middle.y}, r, dark, 0, thick);
}

}  // namespace aft::viz

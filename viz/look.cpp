#include "viz/look.h"

#include <algorithm>
#include <cmath>

#include "core/outside.h"
#include "viz/painter.h"

namespace aft::viz {
namespace {

ImFont* font_of(const Look& look, Weight weight) {
    ImFont* const wanted = weight == Weight::semibold ? look.semibold
                           : weight == Weight::medium ? look.medium
                           : weight == Weight::mono   ? look.mono
                                                      : look.regular;
    return wanted != nullptr ? wanted : ImGui::GetFont();
}

}  // namespace

ImU32 ink(uint32_t rgb, float alpha) {
    const auto a = static_cast<ImU32>(std::clamp(alpha, 0.0F, 1.0F) * 255 + 0.5F);
    return IM_COL32((rgb >> 16) & 0xFF, (rgb >> 8) & 0xFF, rgb & 0xFF, a);
}

ImVec2 text_size(const Look& look, const TextStyle& style, std::string_view text) {
    const PrintableText safe(text);
    return font_of(look, style.weight)
        ->CalcTextSizeA(look.px(style.size), FLT_MAX, 0, safe.begin(), safe.end());
}

float draw_text(const Look& look, ImVec2 at, const TextStyle& style, std::string_view text) {
    if (text.empty()) return 0;
    const float width = text_size(look, style, text).x;
    if (style.align == Align::centre) at.x -= width / 2;
    if (style.align == Align::right) at.x -= width;
    const PrintableText safe(text);
    // Whole pixels: glyphs stay crisp.
    ImGui::GetWindowDrawList()->AddText(font_of(look, style.weight), look.px(style.size),
                                        {std::round(at.x), std::round(at.y)},
                                        ink(style.color, style.alpha), safe.begin(), safe.end());
    return width;
}

// Without OpenGL: line by line.
static void draw_hatch_lines(const Look& look, const Box& box, float pitch) {
    ImDrawList* const list = ImGui::GetWindowDrawList();
    list->PushClipRect(box.low, box.high, true);
    list->AddRectFilled(box.low, box.high, ink(look.colors->hatch_ground));
    const float height = box.height();
    const float first = box.low.x - std::fmod(box.low.x + box.low.y, pitch);
    for (float x = first; x < box.high.x + height; x += pitch)
        list->AddLine({x - height, box.high.y}, {x, box.low.y}, ink(look.colors->hatch_line),
                      kHatchLine * look.scale);
    list->PopClipRect();
}

// One rectangle whose texture repeats along x + y: its lines as triangles took the processor 5.5
// ms of 512x256 pixels, this takes 1.0. They hang on the screen's grid, so neighbours join.
void draw_hatch(const Look& look, const Box& box) {
    const float pitch = kHatchPitch * look.scale * std::sqrt(2.0F);
    if (look.painter == nullptr) return draw_hatch_lines(look, box, pitch);
    const auto uv = [&](float x, float y) { return ImVec2{(x + y - 1) / pitch, 0.5F}; };
    const auto& [low, high] = box;
    ImGui::GetWindowDrawList()->AddImageQuad(
        look.painter->hatch(look.colors->hatch_ground, look.colors->hatch_line, look.scale), low,
        {high.x, low.y}, high, {low.x, high.y}, uv(low.x, low.y), uv(high.x, low.y),
        uv(high.x, high.y), uv(low.x, high.y));
}

void draw_ring(const Look& look, const Box& box, uint32_t color, float width) {
    ImDrawList* const list = ImGui::GetWindowDrawList();
    const float w = look.px(width), rim = look.px(1);
    const ImU32 dark = ink(0x0B0C0E, 0.85F);
    const auto frame = [&](float out, float thick, ImU32 c) {
        // AddRect strokes along the middle of its line.
        const float o = out - thick / 2;
        list->AddRect({box.low.x - o, box.low.y - o}, {box.high.x + o, box.high.y + o}, c, 0, 0,
                      thick);
    };
    frame(w + rim, rim, dark);
    frame(w, w, ink(color));
    frame(0, rim, dark);
}

void draw_not_finite(const Look& look, const Box& box, float value) {
    ImDrawList* const list = ImGui::GetWindowDrawList();
    list->AddRectFilled(box.low, box.high, ink(look.colors->nan));
    const float side = std::min(box.width(), box.height());
    if (side < 8) return;
    const ImU32 dark = ink(0x0B0C0E);
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

void draw_no_data(const Look& look, const Box& box) {
    ImGui::GetWindowDrawList()->AddRect({box.low.x + 0.5F, box.low.y + 0.5F},
                                        {box.high.x - 0.5F, box.high.y - 0.5F},
                                        ink(look.colors->line));
}

}  // namespace aft::viz

#include "viz/text.h"

#include <imgui_internal.h>

#include <cmath>
#include <string>

#include "core/outside.h"

namespace aft::viz {
namespace {

ImFont* font_of(const Look& look, Face face) {
    ImFont* const wanted = look.fonts.face(face);
    return wanted != nullptr ? wanted : ImGui::GetFont();
}

std::string cut_to(const Look& look, std::string_view words, const TextStyle& style) {
    // No line of the window holds more; measuring character by character is for short texts.
    constexpr size_t kMostBytes = 1024;
    std::string out(words.substr(0, kMostBytes));
    const auto fits = [&](const std::string& candidate) {
        return text_extent(look, candidate, style.size, style.face).x <= style.max_width;
    };
    if (words.size() <= kMostBytes && fits(out)) return out;
    while (!out.empty()) {
        // Whole characters: continuation bytes go with their first one.
        while (!out.empty() && (static_cast<unsigned char>(out.back()) & 0xC0) == 0x80)
            out.pop_back();
        if (!out.empty()) out.pop_back();
        if (fits(out + "\u2026")) break;
    }
    return out + "\u2026";
}

}  // namespace

ImFont* Fonts::face(Face which) const {
    switch (which) {
        case Face::medium:
            return medium;
        case Face::semibold:
            return semibold;
        case Face::mono:
            return mono;
        case Face::regular:
            break;
    }
    return regular;
}

ImVec2 text_extent(const Look& look, std::string_view words, float size, Face face) {
    const PrintableText safe(words);
    const ImVec2 extent =
        font_of(look, face)->CalcTextSizeA(size * look.scale, FLT_MAX, 0, safe.begin(), safe.end());
    return {std::ceil(extent.x), extent.y};
}

ImVec2 text_extent(const Look& look, std::string_view words, const TextStyle& style) {
    return text_extent(look, words, style.size, style.face);
}

float text_at(const Look& look, ImVec2 at, std::string_view words, const TextStyle& style) {
    if (words.empty()) return 0;
    const PrintableText safe(words);
    const std::string shown =
        style.max_width > 0 ? cut_to(look, safe.get(), style) : std::string(safe.get());
    const float width = text_extent(look, shown, style).x;
    if (style.align == Align::centre) at.x -= width / 2;
    if (style.align == Align::right) at.x -= width;
    ImGui::GetWindowDrawList()->AddText(font_of(look, style.face), style.size * look.scale,
                                        {std::floor(at.x), std::floor(at.y)}, style.color,
                                        shown.data(), shown.data() + shown.size());
    return width;
}

void text_right(const Look& look, ImVec2 at, std::string_view words, const TextStyle& style) {
    text_at(look, {at.x - text_extent(look, words, style.size, style.face).x, at.y}, words, style);
}

void icon_at(const Look& look, ImVec2 center, const char* icon, const TextStyle& style) {
    const float pixels = look.px(style.size);
    ImFont* const font = font_of(look, Face::regular);
    // Where the drawing stands within its line depends on the font: its own middle counts.
    unsigned int code = 0;
    ImTextCharFromUtf8(&code, icon, nullptr);
    const ImFontGlyph* glyph = font->GetFontBaked(pixels)->FindGlyph(static_cast<ImWchar>(code));
    if (glyph == nullptr) return;
    ImGui::GetWindowDrawList()->AddText(font, pixels,
                                        {std::round(center.x - (glyph->X0 + glyph->X1) / 2),
                                         std::round(center.y - (glyph->Y0 + glyph->Y1) / 2)},
                                        style.color, icon);
}

}  // namespace aft::viz

// Letters that Dear ImGui drew, found again by their texture coordinates and joined to words.
// GlyphTable reads the font atlas as it is after ImGui::Render(); TextRuns writes runs of letters
// into an SvgPage, icons as outlines. Window thread, between Render() and the next NewFrame().
#pragma once
#include <imgui.h>

#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "viz/svg/draw_polygons.h"
#include "viz/svg/font_face.h"
#include "viz/svg/svg_page.h"

namespace aft::viz {

struct PlacedGlyph {
    const ImFont* font = nullptr;
    const ImFontConfig* source = nullptr;  // the file of the font that has it
    unsigned character = 0;
    ImVec2 pen = {};               // on the baseline, where the pen stands before it
    ImVec2 along = {1, 0};         // where the text goes; lines follow to the right of that
    ImVec2 shift = {};             // of its outline from the pen, by the font's settings, pixels
    float height = 0;              // pixels from ascent to descent
    float advance = 0, space = 0;  // of it and of a space, pixels
    Box extent;                    // of its pixels, if none were cut off
    Box cut;                       // what Dear ImGui left of that; infinite where it cut nothing
};

class GlyphTable {
  public:
    explicit GlyphTable(const ImFontAtlas& atlas);
    // nullopt: the corners are no letter of the atlas.
    [[nodiscard]] std::optional<PlacedGlyph> find(const DrawPolygon& polygon) const;

  private:
    struct AtlasGlyph {
        const ImFontBaked* baked;
        const ImFontGlyph* glyph;
    };
    [[nodiscard]] const AtlasGlyph* at(ImVec2 low, ImVec2 high) const;
    std::vector<AtlasGlyph> glyphs_;
    std::unordered_map<uint64_t, size_t> by_corner_;  // upper left corner in the atlas -> glyphs_
};

class TextRuns {
  public:
    explicit TextRuns(SvgPage& page) : page_(page) {}
    // Anything else must not be added to the page between add() and flush(). False: an icon of
    // which the font gives no outline; the caller draws its pixels.
    [[nodiscard]] bool add(const PlacedGlyph& glyph, ImU32 color, const Box& clip);
    void flush();

  private:
    struct TextRun {
        PlacedGlyph first;
        ImVec2 pen;  // after the last letter
        ImU32 color = 0;
        std::string words;
        size_t letters = 0;  // spaces included
        Box extent, clip, cut;
    };
    [[nodiscard]] std::optional<size_t> spaces_before(const PlacedGlyph& glyph, ImU32 color,
                                                      const Box& clip) const;
    [[nodiscard]] bool write_icon(const PlacedGlyph& glyph, ImU32 color, const Box& clip);
    const FontFace& face_of(const ImFontConfig& source);

    SvgPage& page_;
    std::optional<TextRun> run_;
    std::map<const void*, FontFace> faces_;  // by the bytes of their files
};

// What the root of a page with runs has: letters as Dear ImGui sets them, without kerning.
[[nodiscard]] std::string text_attributes();

}  // namespace aft::viz

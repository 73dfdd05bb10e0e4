// Text coloured by numbers: one character a byte in a monospaced grid, its ground coloured as a map
// is, broken at line ends and between words. Keeps its texture and scroll from frame to frame.
// Window thread, inside a Dear ImGui window; the layout and the words for a byte are pure.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "viz/map.h"

namespace aft::viz {

struct TextLayout {
    int64_t rows = 0, columns = 0;
    std::vector<MapCell> places;  // of every byte
    std::vector<int64_t> index;   // [rows, columns], the byte that stands there; -1 = none
    [[nodiscard]] int64_t at(const MapCell& cell) const;  // -1 = no byte
};
[[nodiscard]] TextLayout lay_out_text(std::span<const uint8_t> bytes, int64_t columns);

[[nodiscard]] std::string byte_glyph(uint8_t byte);  // one character; a dot for what has none
[[nodiscard]] std::string byte_words(uint8_t byte);  // "'e' 0x65", "newline 0x0A", "0xC3"

struct TextMapView {  // everything about one frame
    const char* id = "text";
    std::span<const uint8_t> bytes{};
    std::span<const float> values{};    // of every byte
    std::span<const uint8_t> hidden{};  // 1 = no value there: hatched
    std::span<const uint8_t> masked{};  // 1 = hidden by a mask: hatched as such; empty = none
    uint64_t version = 0;               // another number = other values
    Coloring coloring{};
    ImVec2 area{};
    int64_t target = -1, source = -1;  // accent ring, white ring
    float* scroll = nullptr;           // pixels; texts that share it scroll together
};

struct TextMapReply {
    int64_t hovered = -1, clicked = -1;  // bytes
    Box box;                             // the whole area
    ImGuiID id = 0;
};

struct TextGrid {  // where the characters are on screen; rows [begin, end) can be seen
    ImVec2 first, cell;
    int64_t begin = 0, end = 0;
    [[nodiscard]] Box box(const MapCell& from, int64_t columns = 1) const;
};

class TextMap {
  public:
    [[nodiscard]] TextMapReply draw(const TextMapView& view, const Look& look);

  private:
    void lay_out(const TextMapView& view, const Look& look);
    void follow(const TextMapView& view, float row_height);
    void draw_ground(const TextMapView& view, const Look& look, const TextGrid& grid);
    void draw_characters(const TextMapView& view, const Look& look, const TextGrid& grid);
    TextLayout layout_;
    Tiles tiles_;
    std::vector<float> values_;    // as laid out
    std::vector<uint8_t> hidden_;  // the same, 1 where no byte stands too; 2 where masked
    std::vector<uint8_t> bytes_;
    uint64_t version_ = 0, laid_out_ = 0;
    int64_t target_ = -1;
    float seen_ = 0;  // scroll of the last frame
};

[[nodiscard]] ImVec2 text_cell(const Look& look);  // size of a character, pixels
// Whole lines: as many as the text takes in this space, or as fit.
[[nodiscard]] float text_height(std::span<const uint8_t> bytes, ImVec2 available, const Look& look);

}  // namespace aft::viz

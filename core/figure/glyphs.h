// Letters as pixels: words of a drawing in Inter, else DejaVu Sans, from the fonts of the system.
// One owner; any thread. Called by drawing_image.cpp alone.
#pragma once
#include <memory>
#include <vector>

#include "core/figure/drawing.h"

namespace aft {

// A letter's coverage, 0 to 255, and where its upper left corner lies in the picture.
struct GlyphPixels {
    int x = 0, y = 0, width = 0, height = 0;
    std::vector<uint8_t> coverage = {};  // [height, width]
};

class GlyphSource {
  public:
    // Error that names the fonts where none is found.
    GlyphSource();
    ~GlyphSource();
    GlyphSource(const GlyphSource&) = delete;
    GlyphSource& operator=(const GlyphSource&) = delete;
    // The letters of the words at `scale` pixels a unit. What no font has is left out.
    [[nodiscard]] std::vector<GlyphPixels> letters(const TextMark& mark, double scale) const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace aft

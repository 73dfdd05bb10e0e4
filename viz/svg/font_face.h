// FontFace: what a font file (TrueType or OpenType) says of its name, weight and size, and its
// outlines as SVG paths; for pictures with real text. Pure but for the file's bytes; any thread.
#pragma once
#include <imgui.h>

#include <functional>
#include <memory>
#include <span>
#include <string>

namespace aft::viz {

struct FontFacts {
    std::string family = {};  // "Inter", without the style; empty: the file has no name
    int weight = 400;         // 100 .. 900, as CSS counts it
    float em_per_height = 1;  // of the em, when ascent and descent together are 1 high
};

class FontFace {
  public:
    // `bytes`: of a whole file, borrowed for the life of this object. `number`: of the font in a
    // collection. A file that cannot be read has no name and no outlines.
    FontFace(std::span<const unsigned char> bytes, int number);
    ~FontFace();
    FontFace(FontFace&&) noexcept;
    FontFace& operator=(FontFace&&) = delete;

    [[nodiscard]] const FontFacts& facts() const;
    // The data of an SVG path; empty: the font has no such character, or nothing is to be seen of
    // it. `place`: where a point goes that lies `right` of the pen and `up` from the baseline, in
    // heights of the font.
    [[nodiscard]] std::string outline(
        unsigned character, const std::function<ImVec2(float right, float up)>& place) const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace aft::viz

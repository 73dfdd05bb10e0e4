// Token images: grey or RGB pictures of levels at whole pixels per value, with hatch for what is
// not there yet, a mask, outlines and rings. Window thread.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/images/image.h"
#include "viz/gl/texture.h"
#include "viz/look.h"
#include "viz/map.h"
#include "viz/numbers.h"

namespace aft::viz {

struct TokenImage {                     // borrowed; sub-pixels in raster order, channels innermost
    std::span<const uint8_t> tokens{};  // [height, width, channels], level 0 .. levels-1
    int64_t height = 0, width = 0, channels = 1;
    int64_t levels = 256;  // level l is drawn as round(255 l / (levels - 1))
    int64_t known = -1;    // sub-pixels from here on are not there yet; -1 = all there
    std::span<const uint8_t> unknown{};  // with `known`: only these are missing; empty = all
};

// RGBA; pixels that are not there yet are transparent (any of its channels missing).
[[nodiscard]] Image token_pixels(const TokenImage& image);

class TokenTexture {  // uploads only what changed
  public:
    void set(const TokenImage& image, const Look& look);
    void set(const Image& image, const Look& look);  // 1, 3 or 4 channels
    // What its colours mean, for set(Image): [height, width, ...].
    void note_values(NumberTable values) { values_ = std::move(values); }
    [[nodiscard]] ImTextureID id() const;
    // Levels, [height, width, channels], NaN where they are not there yet; or what was noted; or
    // colours, [height, width, 3], 0 .. 255.
    [[nodiscard]] NumberTable numbers() const;

  private:
    void upload(const Image& image, const Look& look);
    std::vector<int16_t> levels_{};  // -1 = not there yet; empty: of an image
    int64_t rows_ = 0, columns_ = 0;
    NumberTable values_{};  // empty: none were noted
    gl::Texture texture_;
    std::vector<uint8_t> shown_;
};

struct ImageView {
    const char* id = "image";
    int64_t height = 0, width = 0;
    int zoom = 0;  // pixels per pixel; 0 = the largest whole one for `area`
    ImVec2 area{};
    MapCell target{}, source{};       // accent ring, white ring
    MapCell next{};                   // the next pixel to be drawn: white
    std::span<const uint8_t> mask{};  // [height, width], 1 = to be filled: dark ground, hatch, edge
    // [height, width], 1 = sampled region: white over dark line.
    std::span<const uint8_t> outlined{};
    std::span<const uint8_t> changed{};  // [height, width], 1 = another value than before: accent
    float alpha = 1;
    bool is_future_dark = false;  // what comes after the target is drawn at 45 %
};

struct ImageReply {
    MapCell hovered{}, clicked{}, dragged{};  // dragged: while the button is held
    bool pressed = false, released = false;
    Box box;
    int zoom = 1;
};

// Draws at the cursor, as an item of zoom * (width, height).
[[nodiscard]] ImageReply draw_image(const ImageView& view, const TokenTexture& texture,
                                    const Look& look);

}  // namespace aft::viz

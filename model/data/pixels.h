// What the sources of pictures share: the options size, levels and gray, and the way from a picture
// to levels. Any thread; no state.
#pragma once
#include <string>
#include <vector>

#include "core/images/image.h"
#include "model/data/source.h"

namespace aft {

struct PixelOptions {
    int64_t size = 32, levels = 256;
    bool gray = false;
    double crop = 1;  // share of the square's side that is kept, around its centre
};

// Reads size, levels and gray of a SPEC; `fallback` holds the source's defaults.
[[nodiscard]] PixelOptions pixel_options(const Spec& spec, const PixelOptions& fallback);

// Centre crop to a square and to `crop` of it, area average to size x size, grey if asked, floor(v
// * levels / 256).
[[nodiscard]] std::vector<uint8_t> to_levels(const Image& image, const PixelOptions& options);

// Fills height, width, channels and levels.
void describe_pixels(DataInfo& info, const PixelOptions& options, int64_t channels);

}  // namespace aft

// Resizing of a part of a picture with a triangle filter, as wide as a source pixel or, when it
// shrinks, as a target pixel ("bilinear with antialiasing"): smooth in both directions. Edges
// repeat nothing: weights are normalised over the pixels of the part. Pure; any thread.
#pragma once
#include "core/images/image.h"

namespace aft {

struct PixelRectangle {
    int64_t x = 0, y = 0, width = 1, height = 1;
};

// part: inside the picture, at least one pixel. Cost: about part.height * width + height * width
// pixels times the filter's width.
[[nodiscard]] Image resize_part(const Image& image, const PixelRectangle& part, int64_t width,
                                int64_t height);

}  // namespace aft

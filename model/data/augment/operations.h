// The operations of RandAugment on pictures of 8 bits, 1 or 3 channels, each a function of a
// strength whose meaning it states. Pure; any thread.
#pragma once
#include <array>

#include "core/images/image.h"

namespace aft {

// x' = m[0] x + m[1] y + m[2], y' = m[3] x + m[4] y + m[5]: where a target pixel comes from, both
// measured from the picture's centre; bilinear, and ImageNet's mean colour outside.
using AffineMap = std::array<double, 6>;
[[nodiscard]] Image transformed(const Image& image, const AffineMap& map);

[[nodiscard]] Image auto_contrast(const Image& image);  // each channel's range becomes 0 to 255
[[nodiscard]] Image equalized(const Image& image);      // each channel's histogram becomes flat
[[nodiscard]] Image solarized(const Image& image, int threshold);  // inverts from it on; 256: none
[[nodiscard]] Image posterized(const Image& image, int bits);      // keeps the highest; 8: all

// other + factor (image - other), clipped; factor 1 changes nothing. Against: its grey, its mean
// grey, black, itself smoothed.
[[nodiscard]] Image with_color(const Image& image, double factor);
[[nodiscard]] Image with_contrast(const Image& image, double factor);
[[nodiscard]] Image with_brightness(const Image& image, double factor);
[[nodiscard]] Image with_sharpness(const Image& image, double factor);

}  // namespace aft

// Codecs: bytes of a picture file to pixels and back, for core/images/image.cpp and core/figure.
// Any thread, no files. Errors are aft::Error without the path (the caller adds it). Limits are
// checked before memory is taken.
#pragma once
#include <string>
#include <string_view>

#include "core/images/image.h"

namespace aft {

inline constexpr int64_t kMaxSide = 16384, kMaxPixels = 64 * 1024 * 1024;
inline constexpr uint64_t kMaxImageBytes = uint64_t{256} << 20;

void check_image_size(int64_t width, int64_t height);  // throws: empty or beyond the limits

// Any of the formats below, recognized by its first bytes.
[[nodiscard]] Image decode_image(std::string_view bytes);
[[nodiscard]] Image decode_jpeg(std::string_view bytes);
[[nodiscard]] Image decode_png_or_bmp(std::string_view bytes);
[[nodiscard]] Image decode_pnm(std::string_view bytes);  // P5 and P6, 8 bits
[[nodiscard]] std::string encode_png(const Image& image);

}  // namespace aft

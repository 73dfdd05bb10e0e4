// Pictures as bytes: reading PNG, BMP, PNM (stb) and JPEG (libjpeg-turbo) with limits, writing PNG.
// Any thread. Errors name the path and what was found. At most 64 megapixels, 16384 per side, 256
// MiB.
#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace aft {

struct Image {
    int64_t width = 0, height = 0, channels = 0;  // channels 1 (grey), 3 (RGB) or 4 (RGBA)
    std::vector<uint8_t> pixels;                  // [height, width, channels], row 0 on top
};

// 1 or 3 channels; alpha is dropped.
[[nodiscard]] Image read_image(const std::filesystem::path& path);
[[nodiscard]] bool is_image_file(const std::filesystem::path& path);    // by extension
void write_png(const std::filesystem::path& path, const Image& image);  // atomic

[[nodiscard]] Image to_grey(const Image& image);  // Rec. 601 weights
[[nodiscard]] Image to_rgb(const Image& image);
[[nodiscard]] Image crop_to_aspect(const Image& image, int64_t width, int64_t height);  // centred
// Exact area average.
[[nodiscard]] Image resize_area(const Image& image, int64_t width, int64_t height);

}  // namespace aft

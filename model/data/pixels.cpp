#include "model/data/pixels.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"

namespace aft {

PixelOptions pixel_options(const Spec& spec, const PixelOptions& fallback) {
    PixelOptions options;
    options.size = spec.integer("size", fallback.size, 2, 512);
    options.levels = spec.integer("levels", fallback.levels, 2, 256);
    options.gray = spec.flag("gray", fallback.gray);
    return options;
}

// The middle of a square picture: at least one pixel.
static Image crop_centre(const Image& square, double share) {
    const int64_t side =
        std::max<int64_t>(1, std::llround(static_cast<double>(square.width) * share));
    const int64_t from = (square.width - side) / 2;
    Image out{side, side, square.channels, {}};
    out.pixels.reserve(static_cast<size_t>(side * side * square.channels));
    for (int64_t y = from; y < from + side; ++y) {
        const auto row = square.pixels.begin() + (y * square.width + from) * square.channels;
        out.pixels.insert(out.pixels.end(), row, row + side * square.channels);
    }
    return out;
}

std::vector<uint8_t> to_levels(const Image& image, const PixelOptions& options) {
    const Image square = crop_to_aspect(image, options.size, options.size);
    const Image centre = options.crop < 1 ? crop_centre(square, options.crop) : square;
    const Image colour = options.gray ? to_grey(centre) : centre;
    Image small = resize_area(colour, options.size, options.size);
    if (options.levels < 256)
        for (uint8_t& v : small.pixels) v = static_cast<uint8_t>(v * options.levels / 256);
    return std::move(small.pixels);
}

void describe_pixels(DataInfo& info, const PixelOptions& options, int64_t channels) {
    info.height = info.width = options.size;
    info.channels = options.gray ? 1 : channels;
    info.levels = options.levels;
}

}  // namespace aft

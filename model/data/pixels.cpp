#include "model/data/pixels.h"

#include "core/check.h"

namespace aft {

PixelOptions pixel_options(const Spec& spec, const PixelOptions& fallback) {
    PixelOptions options;
    options.size = spec.integer("size", fallback.size, 2, 512);
    options.levels = spec.integer("levels", fallback.levels, 2, 256);
    options.gray = spec.flag("gray", fallback.gray);
    return options;
}

std::vector<uint8_t> to_levels(const Image& image, const PixelOptions& options) {
    const Image square = crop_to_aspect(image, options.size, options.size);
    const Image colour = options.gray ? to_grey(square) : square;
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

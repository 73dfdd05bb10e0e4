#include <algorithm>

#include "core/figure/parts.h"

namespace aft {

namespace {

struct KeyTick {
    double position = 0;  // along the bar, 0 to 1
    double value = 0;
};

std::vector<KeyTick> ticks_of(const ColorKey& key) {
    const Range range = key.coloring.range;
    const auto along = [&](double v) {
        const double low = scale_position(range.low, range, key.coloring.scale);
        const double high = scale_position(range.high, range, key.coloring.scale);
        return high > low ? (scale_position(v, range, key.coloring.scale) - low) / (high - low)
                          : 0.5;
    };
    std::vector<KeyTick> ticks{{0, range.low}, {1, range.high}};
    const double zero = along(0);
    if (is_signed_scale(key.coloring.scale) && zero > 0.2 && zero < 0.8) ticks.push_back({zero, 0});
    return ticks;
}

// The colours from low to high as one line of pixels.
Image bar_image(const Coloring& coloring, int64_t pixels, bool stands) {
    Image image{stands ? 1 : pixels, stands ? pixels : 1, 3, {}};
    image.pixels.resize(static_cast<size_t>(3 * pixels));
    const double low = scale_position(coloring.range.low, coloring.range, coloring.scale);
    const double high = scale_position(coloring.range.high, coloring.range, coloring.scale);
    for (int64_t i = 0; i < pixels; ++i) {
        const double along = (static_cast<double>(i) + 0.5) / static_cast<double>(pixels);
        const double position = low + (high - low) * along;
        const auto place = static_cast<size_t>(std::clamp(position * 255 + 0.5, 0.0, 255.0));
        const Rgb& color = colormap_table(coloring.map)[place];
        const int64_t to = stands ? pixels - 1 - i : i;
        std::copy(color.begin(), color.end(), image.pixels.begin() + 3 * to);
    }
    return image;
}

}  // namespace

Coloring coloring_on(const FigureInk& ink, const ColorKey& key) {
    Coloring out = key.coloring;
    if (out.map == Colormap::ember_dark || out.map == Colormap::ember_light)
        out.map = ink.is_dark ? Colormap::ember_dark : Colormap::ember_light;
    return out;
}

void draw_key(FigureDrawing& to, const FigureInk& ink, const ColorKey& key, const DrawBox& box) {
    const bool stands = box.height > box.width;
    const double length = stands ? box.height : box.width;
    to.marks.emplace_back(
        ImageMark{box, bar_image(coloring_on(ink, key), static_cast<int64_t>(length), stands)});
    for (const KeyTick& tick : ticks_of(key)) {
        TextMark words{.words = figure_number(tick.value), .size = 11, .ink = ink.colors.text2};
        if (stands) {
            const double y = box.bottom() - tick.position * length;
            words.at = {box.right() + 5, std::clamp(y + 4, box.y + 8, box.bottom())};
        } else {
            words.at = {box.x + tick.position * length, box.bottom() + 13};
            words.anchor = tick.position <= 0   ? DrawAnchor::start
                           : tick.position >= 1 ? DrawAnchor::end
                                                : DrawAnchor::middle;
        }
        to.marks.emplace_back(std::move(words));
    }
}

double key_numbers_width(const ColorKey& key) {
    double width = 0;
    for (const KeyTick& tick : ticks_of(key))
        width = std::max(width, text_width(figure_number(tick.value), 11));
    return width;
}

}  // namespace aft

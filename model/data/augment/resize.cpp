#include "model/data/augment/resize.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"

namespace aft {
namespace {

// The source pixels under one target pixel along an axis.
struct FilterTaps {
    int64_t first = 0;
    std::vector<float> weights;  // they add up to 1
};

std::vector<FilterTaps> triangle_taps(int64_t source, int64_t target) {
    const double scale = static_cast<double>(source) / static_cast<double>(target);
    const double reach = std::max(1.0, scale);
    std::vector<FilterTaps> all(static_cast<size_t>(target));
    for (int64_t i = 0; i < target; ++i) {
        const double centre = (static_cast<double>(i) + 0.5) * scale;
        const auto low = std::max<int64_t>(0, static_cast<int64_t>(centre - reach + 0.5));
        const auto high = std::min(source, static_cast<int64_t>(centre + reach + 0.5));
        FilterTaps& taps = all[static_cast<size_t>(i)];
        taps.first = low;
        double sum = 0;
        for (int64_t j = low; j < high; ++j) {
            const double away = std::abs(static_cast<double>(j) + 0.5 - centre) / reach;
            taps.weights.push_back(static_cast<float>(std::max(0.0, 1 - away)));
            sum += taps.weights.back();
        }
        for (float& weight : taps.weights) weight = static_cast<float>(weight / sum);
    }
    return all;
}

uint8_t to_byte(float value) {
    return static_cast<uint8_t>(std::clamp(value + 0.5F, 0.0F, 255.0F));
}

// [width, channels] of one row of the part
void resize_row(const uint8_t* row, const std::vector<FilterTaps>& columns, int64_t channels,
                float* out) {
    for (const FilterTaps& taps : columns)
        for (int64_t c = 0; c < channels; ++c) {
            const uint8_t* from = row + taps.first * channels + c;
            float sum = 0;
            for (const float weight : taps.weights) {
                sum += weight * static_cast<float>(*from);
                from += channels;
            }
            *out++ = sum;
        }
}

}  // namespace

Image resize_part(const Image& image, const PixelRectangle& part, int64_t width, int64_t height) {
    AFT_ASSERT(part.x >= 0 && part.y >= 0 && part.width >= 1 && part.height >= 1);
    AFT_ASSERT(part.x + part.width <= image.width && part.y + part.height <= image.height);
    const std::vector<FilterTaps> columns = triangle_taps(part.width, width);
    const std::vector<FilterTaps> rows = triangle_taps(part.height, height);
    const int64_t channels = image.channels, line = width * channels;
    std::vector<float> wide(static_cast<size_t>(part.height * line));
    for (int64_t y = 0; y < part.height; ++y)
        resize_row(image.pixels.data() + ((part.y + y) * image.width + part.x) * channels, columns,
                   channels, wide.data() + y * line);
    Image out{width, height, channels, {}};
    out.pixels.reserve(static_cast<size_t>(height * line));
    std::vector<float> sums(static_cast<size_t>(line));
    for (const FilterTaps& taps : rows) {
        std::fill(sums.begin(), sums.end(), 0.0F);
        const float* from = wide.data() + taps.first * line;
        for (const float weight : taps.weights)
            for (float& sum : sums) sum += weight * *from++;
        for (const float sum : sums) out.pixels.push_back(to_byte(sum));
    }
    return out;
}

}  // namespace aft

#include "model/data/augment/operations.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace aft {
namespace {

constexpr int kValues = 256;
using Table = std::array<uint8_t, kValues>;
using ValueCounts = std::array<int64_t, kValues>;

uint8_t rounded_byte(double value) {
    return static_cast<uint8_t>(std::clamp(value + 0.5, 0.0, 255.0));
}

ValueCounts histogram(const Image& image, int64_t channel) {
    ValueCounts counts{};
    for (size_t i = static_cast<size_t>(channel); i < image.pixels.size();
         i += static_cast<size_t>(image.channels))
        ++counts[image.pixels[i]];
    return counts;
}

void apply(const Table& table, int64_t channel, Image& image) {
    for (size_t i = static_cast<size_t>(channel); i < image.pixels.size();
         i += static_cast<size_t>(image.channels))
        image.pixels[i] = table[image.pixels[i]];
}

// The same table for all channels.
template <class F>
Image mapped(const Image& image, const F& f) {
    Table table{};
    for (int v = 0; v < kValues; ++v) table[static_cast<size_t>(v)] = f(v);
    Image out = image;
    for (uint8_t& v : out.pixels) v = table[v];
    return out;
}

Image blended(const Image& other, const Image& image, double factor) {
    Image out = image;
    for (size_t i = 0; i < out.pixels.size(); ++i) {
        const double from = other.pixels[i];
        out.pixels[i] = rounded_byte(from + factor * (image.pixels[i] - from));
    }
    return out;
}

double fill(const Image& image, int64_t channel) {
    constexpr double kMean[] = {124, 116, 104};  // of ImageNet's channels
    return image.channels == 3 ? kMean[channel] : 114;
}

// The value at a place between pixels.
double bilinear(const Image& image, double x, double y, int64_t channel) {
    const double left = std::floor(x), top = std::floor(y);
    double sum = 0;
    for (int dy = 0; dy < 2; ++dy)
        for (int dx = 0; dx < 2; ++dx) {
            const double weight =
                (dx == 0 ? 1 - (x - left) : x - left) * (dy == 0 ? 1 - (y - top) : y - top);
            if (weight == 0) continue;
            const int64_t px = static_cast<int64_t>(left) + dx, py = static_cast<int64_t>(top) + dy;
            const bool inside = px >= 0 && py >= 0 && px < image.width && py < image.height;
            const auto at = static_cast<size_t>((py * image.width + px) * image.channels + channel);
            sum += weight * (inside ? image.pixels[at] : fill(image, channel));
        }
    return sum;
}

}  // namespace

Image transformed(const Image& image, const AffineMap& map) {
    Image out = image;
    const double middle_x = static_cast<double>(image.width - 1) / 2;
    const double middle_y = static_cast<double>(image.height - 1) / 2;
    size_t at = 0;
    for (int64_t row = 0; row < image.height; ++row)
        for (int64_t column = 0; column < image.width; ++column) {
            const double x = static_cast<double>(column) - middle_x;
            const double y = static_cast<double>(row) - middle_y;
            const double from_x = map[0] * x + map[1] * y + map[2] + middle_x;
            const double from_y = map[3] * x + map[4] * y + map[5] + middle_y;
            for (int64_t c = 0; c < image.channels; ++c)
                out.pixels[at++] = rounded_byte(bilinear(image, from_x, from_y, c));
        }
    return out;
}

Image auto_contrast(const Image& image) {
    Image out = image;
    for (int64_t c = 0; c < image.channels; ++c) {
        const ValueCounts counts = histogram(image, c);
        int low = 0, high = kValues - 1;
        while (low < high && counts[static_cast<size_t>(low)] == 0) ++low;
        while (high > low && counts[static_cast<size_t>(high)] == 0) --high;
        if (low == high) continue;
        Table table{};
        for (int v = 0; v < kValues; ++v)
            table[static_cast<size_t>(v)] = rounded_byte(255.0 * (v - low) / (high - low));
        apply(table, c, out);
    }
    return out;
}

Image equalized(const Image& image) {
    Image out = image;
    for (int64_t c = 0; c < image.channels; ++c) {
        const ValueCounts counts = histogram(image, c);
        const int64_t all = std::accumulate(counts.begin(), counts.end(), int64_t{0});
        const auto first =
            std::find_if(counts.begin(), counts.end(), [](int64_t n) { return n > 0; });
        const int64_t above = all - (first == counts.end() ? 0 : *first);
        if (above == 0) continue;  // one value alone
        Table table{};
        int64_t below = 0;  // pixels up to this value, those of the lowest left out
        for (size_t v = 0; v < kValues; ++v) {
            if (counts.begin() + static_cast<ptrdiff_t>(v) > first) below += counts[v];
            table[v] =
                rounded_byte(255.0 * static_cast<double>(below) / static_cast<double>(above));
        }
        apply(table, c, out);
    }
    return out;
}

Image solarized(const Image& image, int threshold) {
    return mapped(image, [&](int v) { return static_cast<uint8_t>(v >= threshold ? 255 - v : v); });
}

Image posterized(const Image& image, int bits) {
    const int mask = 0xff & ~((1 << (8 - bits)) - 1);
    return mapped(image, [&](int v) { return static_cast<uint8_t>(v & mask); });
}

Image with_color(const Image& image, double factor) {
    return image.channels == 1 ? image : blended(to_rgb(to_grey(image)), image, factor);
}

Image with_contrast(const Image& image, double factor) {
    const Image grey = to_grey(image);
    const double sum = std::accumulate(grey.pixels.begin(), grey.pixels.end(), 0.0);
    const double mean = std::round(sum / static_cast<double>(grey.pixels.size()));
    return mapped(image, [&](int v) { return rounded_byte(mean + factor * (v - mean)); });
}

Image with_brightness(const Image& image, double factor) {
    return mapped(image, [&](int v) { return rounded_byte(factor * v); });
}

Image with_sharpness(const Image& image, double factor) {
    Image smooth = image;  // the edge stays
    for (int64_t y = 1; y + 1 < image.height; ++y)
        for (int64_t x = 1; x + 1 < image.width; ++x)
            for (int64_t c = 0; c < image.channels; ++c) {
                const auto at = [&](int64_t row, int64_t column) {
                    return static_cast<size_t>((row * image.width + column) * image.channels + c);
                };
                double sum = 4.0 * image.pixels[at(y, x)];  // 5 in the middle, 1 around it
                for (int64_t dy = -1; dy <= 1; ++dy)
                    for (int64_t dx = -1; dx <= 1; ++dx) sum += image.pixels[at(y + dy, x + dx)];
                smooth.pixels[at(y, x)] = rounded_byte(sum / 13);
            }
    return blended(smooth, image, factor);
}

}  // namespace aft

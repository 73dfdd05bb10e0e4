#include "core/images/colormap.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"

namespace aft {
namespace {

using Stops = std::array<uint32_t, 6>;  // from 0 outwards, RRGGBB
constexpr Stops kDarkNegative = {0x1D2024, 0x1F3A57, 0x24608F, 0x3E90C8, 0x8CC6EE, 0xE3F3FD};
constexpr Stops kDarkPositive = {0x1D2024, 0x4D2F17, 0x96521A, 0xDD8526, 0xFABF62, 0xFFF1CC};
constexpr Stops kLightNegative = {0xF4F4F2, 0xC3DBEE, 0x7FB4DC, 0x3A83BF, 0x135390, 0x082B55};
constexpr Stops kLightPositive = {0xF4F4F2, 0xF8D9B0, 0xEFA75E, 0xCC6F1B, 0x8C420A, 0x4A2004};

struct ColorAnchor {
    double index;               // 0 .. 255
    std::array<double, 3> rgb;  // 0 .. 1
};

// Points of the published tables of viridis (van der Walt and Smith 2015) and cividis (Nunez et
// al. 2018), dense where the tables bend; between them a monotone cubic stays within one level.
constexpr ColorAnchor kViridis[] = {
    {0, {.2670, .0049, .3294}},   {15, {.2819, .0897, .4124}},  {30, {.2803, .1657, .4765}},
    {45, {.2637, .2376, .5188}},  {60, {.2374, .3052, .5419}},  {75, {.2086, .3678, .5527}},
    {90, {.1823, .4262, .5571}},  {105, {.1592, .4822, .5581}}, {120, {.1378, .5375, .5549}},
    {128, {.1276, .5669, .5506}}, {135, {.1211, .5927, .5446}}, {140, {.1194, .6111, .5390}},
    {150, {.1281, .6477, .5235}}, {165, {.1807, .7014, .4882}}, {180, {.2741, .7520, .4366}},
    {195, {.3952, .7975, .3678}}, {210, {.5356, .8358, .2819}}, {225, {.6889, .8654, .1827}},
    {234, {.7833, .8793, .1254}}, {240, {.8456, .8873, .0997}}, {244, {.8863, .8924, .0954}},
    {249, {.9359, .8986, .1081}}, {255, {.9932, .9062, .1439}}};
constexpr ColorAnchor kCividis[] = {
    {0, {.0000, .1351, .3048}},   {7, {.0000, .1554, .3505}},   {18, {.0000, .1846, .4288}},
    {20, {.0000, .1888, .4396}},  {22, {.0000, .1934, .4416}},  {24, {.0179, .1985, .4412}},
    {27, {.0584, .2066, .4395}},  {30, {.0875, .2149, .4373}},  {35, {.1243, .2287, .4335}},
    {45, {.1805, .2562, .4273}},  {60, {.2476, .2970, .4229}},  {75, {.3059, .3377, .4245}},
    {90, {.3599, .3786, .4315}},  {105, {.4116, .4201, .4436}}, {120, {.4616, .4624, .4620}},
    {127, {.4851, .4825, .4704}}, {135, {.5142, .5055, .4726}}, {150, {.5706, .5497, .4696}},
    {165, {.6286, .5951, .4596}}, {180, {.6880, .6420, .4429}}, {195, {.7488, .6905, .4184}},
    {210, {.8111, .7408, .3852}}, {225, {.8751, .7931, .3397}}, {240, {.9411, .8475, .2758}},
    {250, {.9873, .8847, .2133}}, {252, {.9948, .8930, .2034}}, {255, {.9957, .9093, .2178}}};

using Table = std::array<Rgb, 256>;

uint8_t to_byte(double value) {
    return static_cast<uint8_t>(std::lround(255 * std::clamp(value, 0.0, 1.0)));
}

double channel(uint32_t rgb, int c) {
    return static_cast<double>((rgb >> (16 - 8 * c)) & 0xFF) / 255.0;
}

Table ember_table(const Stops& negative, const Stops& positive) {
    Table table{};
    for (int i = 0; i < 256; ++i) {
        const double x = i / 127.5 - 1;
        const Stops& stops = x < 0 ? negative : positive;
        const double at = std::abs(x) * 5;
        const size_t k = std::min<size_t>(4, static_cast<size_t>(at));
        for (int c = 0; c < 3; ++c) {
            const double low = channel(stops[k], c), high = channel(stops[k + 1], c);
            table[size_t(i)][size_t(c)] = to_byte(low + (high - low) * (at - double(k)));
        }
    }
    return table;
}

double slope(const ColorAnchor& a, const ColorAnchor& b, size_t c) {
    return (b.rgb[c] - a.rgb[c]) / (b.index - a.index);
}

// Tangent at anchor k: harmonic mean of the neighbouring slopes, 0 at an extreme (Fritsch and
// Butland 1984), so that the curve never overshoots its anchors.
double tangent(std::span<const ColorAnchor> anchors, size_t k, size_t c) {
    if (k == 0) return slope(anchors[0], anchors[1], c);
    if (k + 1 == anchors.size()) return slope(anchors[k - 1], anchors[k], c);
    const double left = slope(anchors[k - 1], anchors[k], c);
    const double right = slope(anchors[k], anchors[k + 1], c);
    return left * right <= 0 ? 0 : 2 * left * right / (left + right);
}

Table anchor_table(std::span<const ColorAnchor> anchors) {
    Table table{};
    size_t k = 0;
    for (size_t i = 0; i < 256; ++i) {
        while (k + 2 < anchors.size() && anchors[k + 1].index <= double(i)) ++k;
        const ColorAnchor &a = anchors[k], &b = anchors[k + 1];
        const double h = b.index - a.index, t = (double(i) - a.index) / h, u = 1 - t;
        for (size_t c = 0; c < 3; ++c) {
            const double bend =
                u * u * t * h * tangent(anchors, k, c) - u * t * t * h * tangent(anchors, k + 1, c);
            table[i][c] =
                to_byte(a.rgb[c] * u * u * (1 + 2 * t) + b.rgb[c] * t * t * (3 - 2 * t) + bend);
        }
    }
    return table;
}

Table grey_table() {
    Table table{};
    for (size_t i = 0; i < 256; ++i) table[i] = {uint8_t(i), uint8_t(i), uint8_t(i)};
    return table;
}

double magnitude(Range range) {
    return std::max(std::abs(range.low), std::abs(range.high));
}

struct SignedLog {  // s(v) = sign(v) log(1 + |v| / c), divided by its larger end
    double c, top;
    explicit SignedLog(double m) : c(std::min(0.25, m / 4)), top(std::log1p(m / c)) {}
    [[nodiscard]] double forward(double v) const {
        return std::copysign(std::log1p(std::abs(v) / c) / top, v);
    }
    [[nodiscard]] double inverse(double s) const {
        return std::copysign(std::expm1(std::abs(s) * top) * c, s);
    }
};

double log_floor(Range range) {
    return range.low > 0 ? range.low : range.high * 1e-4;
}

double unsigned_position(double v, Range range, Scale scale) {
    if (!(range.high > range.low)) return 0;
    if (scale == Scale::log) {
        const double floor = log_floor(range);
        if (!(floor > 0) || v <= floor) return 0;
        return std::log(v / floor) / std::log(range.high / floor);
    }
    const double x = (v - range.low) / (range.high - range.low);
    return scale == Scale::root ? std::sqrt(x) : x;
}

double signed_position(double v, Range range, Scale scale) {
    const double m = magnitude(range);
    if (!(m > 0)) return 0;
    if (scale == Scale::signed_log) return SignedLog(m).forward(v);
    if (scale == Scale::signed_linear) return v / m;
    const double end = v < 0 ? -range.low : range.high;
    return end > 0 ? v / end : 0;
}

}  // namespace

const std::array<Rgb, 256>& colormap_table(Colormap map) {
    static const std::array<Table, 5> tables = {
        ember_table(kDarkNegative, kDarkPositive), ember_table(kLightNegative, kLightPositive),
        anchor_table(kViridis), anchor_table(kCividis), grey_table()};
    return tables[static_cast<size_t>(map)];
}

bool is_signed_scale(Scale scale) {
    return scale == Scale::signed_linear || scale == Scale::signed_log || scale == Scale::two_sided;
}

double scale_position(double value, Range range, Scale scale) {
    if (std::isnan(value)) return value;
    const double v = std::clamp(value, std::min(range.low, range.high), range.high);
    const double position = is_signed_scale(scale) ? 0.5 + 0.5 * signed_position(v, range, scale)
                                                   : unsigned_position(v, range, scale);
    return std::clamp(position, 0.0, 1.0);
}

double scale_value(double position, Range range, Scale scale) {
    const double s = 2 * position - 1, m = magnitude(range), width = range.high - range.low;
    switch (scale) {
        case Scale::linear:
            return range.low + position * width;
        case Scale::root:
            return range.low + position * position * width;
        case Scale::log: {
            const double floor = log_floor(range);
            return floor > 0 ? floor * std::pow(range.high / floor, position) : 0;
        }
        case Scale::signed_linear:
            return s * m;
        case Scale::signed_log:
            return m > 0 ? SignedLog(m).inverse(s) : 0;
        case Scale::two_sided:
            return s < 0 ? -s * range.low : s * range.high;
    }
    return 0;
}

Rgb map_color(double value, Range range, Scale scale, Colormap map) {
    if (!std::isfinite(value)) return {0xFF, 0x2B, 0xD6};
    const auto& table = colormap_table(map);
    const double at = scale_position(value, range, scale) * 255;
    const size_t k = std::min<size_t>(254, static_cast<size_t>(at));
    Rgb color;
    for (size_t c = 0; c < 3; ++c)
        color[c] =
            to_byte((table[k][c] + (table[k + 1][c] - table[k][c]) * (at - double(k))) / 255);
    return color;
}

Range value_range(std::span<const float> values, double percentile, bool symmetric) {
    std::vector<float> finite;
    finite.reserve(values.size());
    for (const float v : values)
        if (std::isfinite(v)) finite.push_back(symmetric ? std::abs(v) : v);
    if (finite.empty()) return {symmetric ? -1.0 : 0.0, 1};
    const auto at = [&](double share) {
        const auto k = static_cast<ptrdiff_t>(std::lround(share * double(finite.size() - 1)));
        std::nth_element(finite.begin(), finite.begin() + k, finite.end());
        return static_cast<double>(finite[size_t(k)]);
    };
    const double share = std::clamp(percentile, 0.0, 100.0) / 100;
    const double high = at(share);
    return symmetric ? Range{-high, high} : Range{at(1 - share), high};
}

Range map_range(std::span<const float> values, Signs signs, double percentile) {
    if (signs == Signs::none) return {0, value_range(values, percentile, false).high};
    const double m = std::max(1e-9, value_range(values, percentile, true).high);
    return {signs == Signs::above_minus_one ? std::max(-1.0, -m) : -m, m};
}

ClippedShare clipped_share(std::span<const float> values, Range range) {
    double below = 0, above = 0, count = 0;
    for (const float v : values) {
        if (!std::isfinite(v)) continue;
        ++count;
        below += v < range.low;
        above += v > range.high;
    }
    return count > 0 ? ClippedShare{below / count, above / count} : ClippedShare{};
}

namespace {

// Where values of a range lie among the bins of a histogram.
class BinEdges {
  public:
    BinEdges(Range range, Scale scale, int count)
        : range_(range),
          scale_(scale),
          first_(scale_position(range.low, range, scale)),
          width_(scale_position(range.high, range, scale) - first_),
          count_(count) {
        AFT_ASSERT(count > 0);
    }
    [[nodiscard]] bool empty() const { return !(width_ > 0); }
    [[nodiscard]] std::vector<float> none() const {
        return std::vector<float>(static_cast<size_t>(count_), 0.0F);
    }
    [[nodiscard]] double position(float v) const {  // from 0 to their count
        return (scale_position(v, range_, scale_) - first_) / width_ * count_;
    }

  private:
    Range range_;
    Scale scale_;
    double first_, width_;
    int count_;
};

}  // namespace

std::vector<float> histogram(std::span<const float> values, Range range, Scale scale, int bins) {
    const BinEdges among(range, scale, bins);
    std::vector<float> counts = among.none();
    if (among.empty()) return counts;
    for (const float v : values) {
        if (!std::isfinite(v) || v < range.low || v > range.high) continue;
        counts[size_t(std::clamp(static_cast<int>(among.position(v)), 0, bins - 1))] += 1;
    }
    return counts;
}

std::vector<float> Distribution::histogram(Range range, Scale scale, int bins) {
    if (asked_++ == 0) return aft::histogram(values_, range, scale, bins);
    if (!is_sorted_) {
        std::erase_if(values_, [](float v) { return !std::isfinite(v); });
        std::sort(values_.begin(), values_.end());
        is_sorted_ = true;
    }
    const BinEdges among(range, scale, bins);
    std::vector<float> counts = among.none();
    if (among.empty()) return counts;
    auto at = std::partition_point(values_.begin(), values_.end(),
                                   [&](float v) { return v < range.low; });
    const auto end =
        std::partition_point(at, values_.end(), [&](float v) { return v <= range.high; });
    for (int bin = 0; bin < bins; ++bin) {
        const auto next = bin + 1 == bins ? end : std::partition_point(at, end, [&](float v) {
            return among.position(v) < bin + 1;
        });
        counts[static_cast<size_t>(bin)] = static_cast<float>(next - at);
        at = next;
    }
    return counts;
}

ClippedShare Distribution::clipped_share(Range range) {
    if (!is_sorted_ || values_.empty()) return aft::clipped_share(values_, range);
    const auto below = std::partition_point(values_.begin(), values_.end(),
                                            [&](float v) { return v < range.low; });
    const auto above = std::partition_point(values_.begin(), values_.end(),
                                            [&](float v) { return !(v > range.high); });
    const auto count = static_cast<double>(values_.size());
    return {static_cast<double>(below - values_.begin()) / count,
            static_cast<double>(values_.end() - above) / count};
}

Image colorize(const Slice& slice, const Coloring& coloring, int zoom) {
    AFT_ASSERT(slice.rows * slice.columns == int64_t(slice.values.size()) && zoom >= 1);
    Image image{slice.columns * zoom, slice.rows * zoom, 3, {}};
    image.pixels.resize(size_t(image.width * image.height * 3));
    for (int64_t y = 0; y < image.height; ++y) {
        for (int64_t x = 0; x < slice.columns; ++x) {
            uint8_t* out = &image.pixels[size_t((y * slice.columns + x) * zoom * 3)];
            if (y % zoom != 0) {
                std::copy_n(out - image.width * 3, 3 * zoom, out);
                continue;
            }
            const float value = slice.values[size_t(y / zoom * slice.columns + x)];
            const Rgb color = map_color(value, coloring.range, coloring.scale, coloring.map);
            for (int k = 0; k < zoom; ++k) std::copy_n(color.data(), 3, out + 3 * k);
        }
    }
    return image;
}

}  // namespace aft

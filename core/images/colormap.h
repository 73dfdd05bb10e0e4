// Colour maps and value scales as numbers: the same tables that the shader uses, so that a picture
// written without a display equals the one on screen. Any thread.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/field.h"
#include "core/images/image.h"

namespace aft {

enum class Colormap { ember_dark, ember_light, viridis, cividis, grey };
// signed_linear: 0 in the middle, one slope for both arms, so that a diverging map keeps its
// meaning.
enum class Scale { linear, root, log, signed_linear, signed_log, two_sided };

struct Range {
    double low = 0, high = 1;
    [[nodiscard]] bool operator==(const Range&) const = default;
};

// How values become colours.
struct Coloring {
    Range range;
    Scale scale = Scale::linear;
    Colormap map = Colormap::viridis;
    [[nodiscard]] bool operator==(const Coloring&) const = default;
};

using Rgb = std::array<uint8_t, 3>;
[[nodiscard]] const std::array<Rgb, 256>& colormap_table(Colormap map);

// Value -> [0, 1] (position in the table). NaN stays NaN. signed_log: one slope for both arms,
// c = min(0.25, M/4), M the larger magnitude of the range; two_sided: each arm linear to its own
// limit, 0 at 0.5.
[[nodiscard]] double scale_position(double value, Range range, Scale scale);
[[nodiscard]] double scale_value(double position, Range range, Scale scale);  // the inverse
// NaN and infinity: FF2BD6
[[nodiscard]] Rgb map_color(double value, Range range, Scale scale, Colormap map);
[[nodiscard]] bool is_signed_scale(Scale scale);  // 0 lies in the middle of the table

// Limits: percentile in (0, 100]; 100 = minimum and maximum of the finite values; symmetric: round
// 0.
[[nodiscard]] Range value_range(std::span<const float> values, double percentile, bool symmetric);
// What maps of a quantity start with, in the window and in pictures of the command line: from 0,
// both signs alike, or both signs with -1 as the floor, where exp(w)-1 ends.
enum class Signs { none, both, above_minus_one };
inline constexpr double kMapPercentile = 99.8;
[[nodiscard]] Range map_range(std::span<const float> values, Signs signs,
                              double percentile = kMapPercentile);
struct ClippedShare {
    double below = 0, above = 0;  // shares of the finite values, 0 .. 1
};
[[nodiscard]] ClippedShare clipped_share(std::span<const float> values, Range range);
// Counts in `bins` equal steps of the colour position between the positions of low and high: the
// bars that stand over a colour bar. Values outside the range and NaN are left out.
[[nodiscard]] std::vector<float> histogram(std::span<const float> values, Range range, Scale scale,
                                           int bins);

// Histograms of the same values for range after range, as while one is dragged: values are sorted
// for the second, and then each takes bins x log n looks in place of n. What it gives is
// what the two functions give. One thread at a time.
class Distribution {
  public:
    Distribution() = default;
    explicit Distribution(std::vector<float> values) : values_(std::move(values)) {}
    [[nodiscard]] std::vector<float> histogram(Range range, Scale scale, int bins);
    [[nodiscard]] ClippedShare clipped_share(Range range);

  private:
    std::vector<float> values_;  // sorted: the finite ones
    int asked_ = 0;
    bool is_sorted_ = false;
};

// A slice as a picture, `zoom` pixels a value.
struct Slice {
    std::span<const float> values;  // [rows, columns]
    int64_t rows = 0, columns = 0;
};
[[nodiscard]] Image colorize(const Slice& slice, const Coloring& coloring, int zoom);

}  // namespace aft

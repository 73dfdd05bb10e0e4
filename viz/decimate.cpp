#include <algorithm>
#include <cmath>
#include <optional>

#include "viz/curves.h"

namespace aft::viz {
namespace {

// Pixel columns of the visible range, as rows of the data.
class PixelRows {
  public:
    PixelRows(const NumberView& x, const PlotColumns& columns)
        : x_(x),
          log_(columns.log),
          low_(place(columns.low)),
          count_(std::max(1, columns.count)),
          scale_(double(count_) / std::max(1e-300, place(columns.high) - low_)) {}

    // The first row of [begin, end) that is right of the column of `begin`.
    [[nodiscard]] size_t next(size_t begin, size_t end) const {
        const int column = column_of(begin);
        size_t step = 1, low = begin;  // low: of this column for certain
        while (low + step < end && column_of(low + step) == column) low += step, step *= 2;
        size_t high = std::min(end, low + step);
        while (high - low > 1) {
            const size_t middle = low + (high - low) / 2;
            (column_of(middle) == column ? low : high) = middle;
        }
        return high;
    }

  private:
    [[nodiscard]] double place(double v) const { return log_ ? std::log(std::max(v, 1e-300)) : v; }
    [[nodiscard]] int column_of(size_t row) const {
        return std::clamp(static_cast<int>((place(x_[row]) - low_) * scale_), 0, count_ - 1);
    }

    const NumberView& x_;
    bool log_;
    double low_;
    int count_;
    double scale_;
};

// The last number left of row `end`, or the first from row `begin` on.
std::optional<PlotPoint> before(const NumberView& x, const NumberView& y, size_t end) {
    while (end-- > 0)
        if (!std::isnan(y[end])) return PlotPoint{x[end], y[end]};
    return std::nullopt;
}

std::optional<PlotPoint> after(const NumberView& x, const NumberView& y, size_t begin) {
    for (const size_t n = std::min(x.size(), y.size()); begin < n; ++begin)
        if (!std::isnan(y[begin])) return PlotPoint{x[begin], y[begin]};
    return std::nullopt;
}

}  // namespace

std::vector<PlotPoint> decimate(NumberView x, NumberView y, const PlotColumns& columns) {
    const auto n = std::ptrdiff_t(std::min(x.size(), y.size()));
    const auto first = std::lower_bound(x.begin(), x.begin() + n, columns.low);
    const auto last = std::upper_bound(first, x.begin() + n, columns.high);
    const auto begin = size_t(first - x.begin()), end = size_t(last - x.begin());
    std::vector<PlotPoint> out;
    const auto count = size_t(std::max(1, columns.count));
    out.reserve(2 + std::min(end - begin, 2 * count));
    if (const auto left = before(x, y, begin)) out.push_back(*left);
    const bool is_whole = end - begin <= count;
    const PixelRows pixels(x, columns);
    for (size_t row = begin; row < end;) {
        const size_t next = is_whole ? row + 1 : pixels.next(row, end);
        if (const auto found = y.extremes(row, next)) {
            const auto [one, other] = std::minmax(found->low, found->high);
            out.push_back({x[one], y[one]});
            if (PlotPoint{x[other], y[other]} != out.back()) out.push_back({x[other], y[other]});
        }
        row = next;
    }
    if (const auto right = after(x, y, end)) out.push_back(*right);
    return out;
}

std::vector<double> smooth(const NumberView& y, double weight) {
    std::vector<double> out(y.begin(), y.end());
    double sum = 0, norm = 0;
    for (double& v : out) {
        if (std::isnan(v)) continue;
        sum = weight * sum + (1 - weight) * v;
        norm = weight * norm + (1 - weight);
        v = sum / norm;
    }
    return out;
}

}  // namespace aft::viz

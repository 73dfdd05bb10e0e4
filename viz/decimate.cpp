#include <algorithm>
#include <cmath>

#include "viz/curves.h"

namespace aft::viz {
namespace {

struct Extremes {  // of one pixel column
    int column = -1;
    PlotPoint low, high;

    void add(int c, PlotPoint p, std::vector<PlotPoint>& out) {
        if (c != column) {
            flush(out);
            column = c;
            low = high = p;
        } else if (p.y < low.y) {
            low = p;
        } else if (p.y > high.y) {
            high = p;
        }
    }
    void flush(std::vector<PlotPoint>& out) const {
        if (column < 0) return;
        const bool low_first = low.x <= high.x;
        out.push_back(low_first ? low : high);
        if (!(low == high)) out.push_back(low_first ? high : low);
    }
};

}  // namespace

std::vector<PlotPoint> decimate(std::span<const double> x, std::span<const double> y,
                                const PlotColumns& columns) {
    const size_t n = std::min(x.size(), y.size());
    const auto first = std::lower_bound(x.begin(), x.begin() + ptrdiff_t(n), columns.low);
    const auto last = std::upper_bound(first, x.begin() + ptrdiff_t(n), columns.high);
    auto begin = size_t(first - x.begin()), end = size_t(last - x.begin());
    std::vector<PlotPoint> out, left, right;
    for (size_t i = begin; i-- > 0 && left.empty();)
        if (!std::isnan(y[i])) left.push_back({x[i], y[i]});
    for (size_t i = end; i < n && right.empty(); ++i)
        if (!std::isnan(y[i])) right.push_back({x[i], y[i]});
    const auto count = size_t(std::max(1, columns.count));
    out.reserve(2 + std::min(end - begin, 2 * count));
    out.insert(out.end(), left.begin(), left.end());
    const auto place = [&](double v) { return columns.log ? std::log(std::max(v, 1e-300)) : v; };
    const double low = place(columns.low);
    const double scale = double(count) / std::max(1e-300, place(columns.high) - low);
    Extremes extremes;
    for (size_t i = begin; i < end; ++i) {
        if (std::isnan(y[i])) continue;
        if (end - begin <= count) {
            out.push_back({x[i], y[i]});
            continue;
        }
        const auto c = static_cast<int>((place(x[i]) - low) * scale);
        extremes.add(std::clamp(c, 0, int(count) - 1), {x[i], y[i]}, out);
    }
    extremes.flush(out);
    out.insert(out.end(), right.begin(), right.end());
    return out;
}

std::vector<double> smooth(std::span<const double> y, double weight) {
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

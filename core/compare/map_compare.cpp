#include "core/compare/map_compare.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"

namespace aft {

namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

// A head with its mean taken out, divided by its norm; 0 where it is not finite.
struct CentredHead {
    std::vector<float> values;
    int64_t cells = 0;     // finite ones
    double mean = 0;       // of them
    bool is_flat = false;  // all alike
};

CentredHead centre(std::span<const float> map) {
    CentredHead out;
    double sum = 0;
    for (const float v : map) {
        if (!std::isfinite(v)) continue;
        sum += v;
        ++out.cells;
    }
    out.mean = out.cells > 0 ? sum / double(out.cells) : kUnknown;
    double squares = 0;
    for (const float v : map)
        if (std::isfinite(v)) squares += (v - out.mean) * (v - out.mean);
    const double norm = std::sqrt(squares);
    out.is_flat =
        norm <= 1e-12 * std::abs(out.mean) * std::sqrt(double(out.cells) + 1) || norm == 0;
    out.values.resize(map.size());
    if (out.is_flat) return out;
    for (size_t i = 0; i < map.size(); ++i)
        out.values[i] = std::isfinite(map[i]) ? float((map[i] - out.mean) / norm) : 0.0F;
    return out;
}

double correlation_of(const CentredHead& a, const CentredHead& b) {
    if (a.cells != b.cells || a.cells == 0) return kUnknown;
    if (a.is_flat && b.is_flat) return a.mean == b.mean ? 1 : 0;
    if (a.is_flat || b.is_flat) return 0;
    double sum = 0;
    for (size_t i = 0; i < a.values.size(); ++i) sum += double(a.values[i]) * b.values[i];
    return std::clamp(sum, -1.0, 1.0);
}

}  // namespace

double MapDistance::relative() const {
    return norm_a > 0 ? norm_change / norm_a : kUnknown;
}

MapDistance map_distance(std::span<const float> a, std::span<const float> b) {
    MapDistance out;
    if (a.size() != b.size()) return out;
    double sum_a = 0, sum_b = 0, square_a = 0, square_b = 0, product = 0, change = 0;
    for (size_t i = 0; i < a.size(); ++i) {
        if (!std::isfinite(a[i]) || !std::isfinite(b[i])) continue;
        const double x = a[i], y = b[i];
        ++out.cells;
        sum_a += x;
        sum_b += y;
        square_a += x * x;
        square_b += y * y;
        product += x * y;
        change += (y - x) * (y - x);
    }
    out.norm_a = std::sqrt(square_a);
    out.norm_b = std::sqrt(square_b);
    out.norm_change = std::sqrt(change);
    if (out.cells == 0) return out;
    const auto n = double(out.cells);
    const double spread_a = square_a - sum_a * sum_a / n, spread_b = square_b - sum_b * sum_b / n;
    if (spread_a > 1e-12 * square_a && spread_b > 1e-12 * square_b)
        out.correlation =
            std::clamp((product - sum_a * sum_b / n) / std::sqrt(spread_a * spread_b), -1.0, 1.0);
    return out;
}

MapDistance together(std::span<const MapDistance> parts) {
    MapDistance out;
    double correlations = 0, known = 0;
    for (const MapDistance& part : parts) {
        out.norm_a = std::hypot(out.norm_a, part.norm_a);
        out.norm_b = std::hypot(out.norm_b, part.norm_b);
        out.norm_change = std::hypot(out.norm_change, part.norm_change);
        out.cells += part.cells;
        if (std::isnan(part.correlation)) continue;
        correlations += part.correlation;
        ++known;
    }
    if (known > 0) out.correlation = correlations / known;
    return out;
}

HeadScores correlate_heads(const HeadMaps& a, const HeadMaps& b) {
    HeadScores out{.rows = a.heads, .columns = b.heads, .values = {}};
    out.values.assign(static_cast<size_t>(a.heads * b.heads), kUnknown);
    if (a.cells() != b.cells()) return out;
    std::vector<CentredHead> of_b;
    for (int64_t i = 0; i < b.heads; ++i) of_b.push_back(centre(b.head(i)));
    for (int64_t i = 0; i < a.heads; ++i) {
        const CentredHead of_a = centre(a.head(i));
        for (int64_t k = 0; k < b.heads; ++k)
            out.values[size_t(i * b.heads + k)] = correlation_of(of_a, of_b[size_t(k)]);
    }
    return out;
}

double change_size(double a, double b, ChangeMeasure by) {
    return std::abs(by == ChangeMeasure::exp ? std::exp(b) - std::exp(a) : b - a);
}

std::vector<CellChange> largest_changes(std::span<const float> a, std::span<const float> b,
                                        size_t most, ChangeMeasure by) {
    std::vector<CellChange> heap;  // the smallest of the largest in front
    if (a.size() != b.size() || most == 0) return heap;
    const auto is_larger = [by](const CellChange& x, const CellChange& y) {
        const double dx = change_size(x.a, x.b, by), dy = change_size(y.a, y.b, by);
        return dx != dy ? dx > dy : x.cell < y.cell;
    };
    for (size_t i = 0; i < a.size(); ++i) {
        const CellChange one{.cell = int64_t(i), .a = a[i], .b = b[i]};
        if (!std::isfinite(a[i]) || !std::isfinite(b[i]) || a[i] == b[i]) continue;
        if (heap.size() == most) {
            if (!is_larger(one, heap.front())) continue;
            std::pop_heap(heap.begin(), heap.end(), is_larger);
            heap.pop_back();
        }
        heap.push_back(one);
        std::push_heap(heap.begin(), heap.end(), is_larger);
    }
    std::sort_heap(heap.begin(), heap.end(), is_larger);
    return heap;
}

std::vector<float> row_shares(std::span<const float> w, int64_t columns) {
    std::vector<float> out(w.begin(), w.end());
    if (columns <= 0) return out;
    AFT_ASSERT(w.size() % size_t(columns) == 0);
    for (size_t first = 0; first < w.size(); first += size_t(columns)) {
        const std::span<const float> row = w.subspan(first, size_t(columns));
        double largest = -std::numeric_limits<double>::infinity(), sum = 0;
        for (const float v : row)
            if (!std::isnan(v)) largest = std::max<double>(largest, v);
        for (const float v : row)
            if (!std::isnan(v)) sum += std::exp(v - largest);
        for (size_t i = 0; i < row.size(); ++i)
            if (!std::isnan(row[i])) out[first + i] = float(std::exp(row[i] - largest) / sum);
    }
    return out;
}

}  // namespace aft

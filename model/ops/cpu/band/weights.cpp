// Weights of the banded operators (paper Eq. 2, 4; w = u r^T: Eq. 7).
//
//   E_tj = 2^(w_tj log2 e - a_t + 30),  a_t = ceil(log2 e max_j w_tj),  outside the window w = 0
//
// Cost: one exponential and 2 d' FLOP for each pair inside the band, once a call for all samples
// and channels. Numerics: a_t is an integer, so that scales are exact powers of two; u r^T is
// multiplied in float64, in float32 only where |w| is surely small (kShort). With window 256, B =
// 4, T = 3072, d = 256, d' = 64 all of this had 6 of 100 samples of a profile of the forward pass,
// half of them u r^T, on two cores of a Xeon with AVX-512.
#include "model/ops/cpu/band/weights.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/ops/cpu/range.h"

namespace aft::ops::cpu {

namespace {

int64_t round_up(int64_t x, int64_t to) {
    return (x + to - 1) / to * to;
}

// Largest sum of squares of a row of [rows, n].
float longest_row(const float* x, int64_t rows, int64_t n) {
    constexpr int64_t kParts = 8;
    float longest = 0;
    bool good = true;
#pragma omp parallel for schedule(static) reduction(max : longest) reduction(&& : good)
    for (int64_t row = 0; row < rows; ++row) {
        float parts[kParts] = {};
        const float* at = x + row * n;
        int64_t i = 0;
        for (; i + kParts <= n; i += kParts)
            for (int64_t p = 0; p < kParts; ++p) parts[p] += at[i + p] * at[i + p];
        for (; i < n; ++i) parts[0] += at[i] * at[i];
        float sum = 0;
        for (const float part : parts) sum += part;
        good = good && std::isfinite(sum);
        longest = std::max(longest, sum);
    }
    return good ? longest : std::numeric_limits<float>::infinity();
}

struct FactorShape {
    int64_t rows = 0, factors = 0, lanes = 0;
};
// [rows, factors] -> [blocks of lanes, factors, lanes], zero behind the last row
template <class T>
void turn(const float* from, const FactorShape& f, T* to) {
    const int64_t blocks = round_up(f.rows, f.lanes) / f.lanes;
#pragma omp parallel for schedule(static)
    for (int64_t block = 0; block < blocks; ++block)
        for (int64_t i = 0; i < f.factors; ++i) {
            T* const out = to + (block * f.factors + i) * f.lanes;
            for (int64_t lane = 0; lane < f.lanes; ++lane) {
                const int64_t row = block * f.lanes + lane;
                out[lane] = row < f.rows ? static_cast<T>(from[row * f.factors + i]) : T(0);
            }
        }
}

}  // namespace

BandWeights::BandWeights(const BandBias& bias, int64_t length, bool causal)
    : kernels_(band_kernels()),
      bias_(bias),
      length_(length),
      padded_(round_up(length, kTile)),
      causal_(causal) {
    if (bias_.u != nullptr) hold_factors();
}

void BandWeights::hold_factors() {
    const int64_t n = bias_.factors, size = round_up(length_, kernels_.lanes) * n;
    const float longest = longest_row(bias_.u, length_, n) * longest_row(bias_.r, length_, n);
    is_short_ = longest <= kShort * kShort;  // no: infinity and NaN
    if (is_short_) {
        short_r_ = Buffer<float>(size);
        turn(bias_.r, {length_, n, kernels_.lanes}, short_r_.data());
    } else {
        r_ = Buffer<double>(size);
        turn(bias_.r, {length_, n, kernels_.lanes}, r_.data());
    }
}

IndexRange BandWeights::window(int64_t target) const {
    const int64_t end = causal_ ? target + 1 : std::min(length_, target + bias_.window);
    return {std::max<int64_t>(0, target - bias_.window + 1), end};
}

IndexRange BandWeights::sources(int64_t row, int64_t phase) const {
    const int64_t last = std::min(length_, row + kRows) - 1;
    const int64_t first = window(row).begin;
    const int64_t begin = first < phase ? 0 : (first - phase) / kStep * kStep + phase;
    return {begin, causal_ ? last + 1 : std::min(length_, round_up(window(last).end, kStep))};
}

IndexRange BandWeights::targets(int64_t begin, int64_t end) const {
    constexpr int64_t step = 2 * kStep;  // the rows of outer()
    const int64_t last = std::min(length_, round_up(end - 1 + bias_.window, step));
    if (causal_) return {begin, last};
    return {std::max<int64_t>(0, begin - bias_.window + 1) / step * step, last};
}

WeightScratch BandWeights::scratch() const {
    WeightScratch out;
    if (bias_.u == nullptr) return out;
    const int64_t widest = std::min(length_, 2 * bias_.window + kRows + kTile);
    const int64_t row = kRows * (round_up(widest, kernels_.lanes) + 2 * kernels_.lanes);
    if (is_short_) {
        out.short_u = Buffer<float>(kRows * bias_.factors);
        out.short_row = Buffer<float>(row);
    } else {
        out.u = Buffer<double>(kRows * bias_.factors);
        out.row = Buffer<double>(row);
    }
    return out;
}

void BandWeights::multiply(int64_t row, IndexRange sources, WeightScratch& s) const {
    if (s.target == row && s.held.begin <= sources.begin && s.held.end >= sources.end) return;
    const int64_t lanes = kernels_.lanes, n = bias_.factors;
    const int64_t first = sources.begin / lanes;
    const int64_t blocks = std::max<int64_t>(0, (sources.end + lanes - 1) / lanes - first);
    s.target = row;
    s.held = sources;
    s.first = first * lanes;
    s.width = blocks * lanes;
    const auto product = [&]<class T>(T* u, const T* r, T* out) {
        for (int64_t i = 0; i < kRows; ++i)
            std::copy_n(bias_.u + std::min(row + i, length_ - 1) * n, n, u + i * n);
        return FactorProduct<T>{.u = u,
                                .r = r + first * n * lanes,
                                .factors = n,
                                .blocks = blocks,
                                .out = out,
                                .row = s.width};
    };
    if (is_short_)
        kernels_.bias.short_product(product(s.short_u.data(), short_r_.data(), s.short_row.data()));
    else
        kernels_.bias.wide_product(product(s.u.data(), r_.data(), s.row.data()));
}

void BandWeights::measure_row(int64_t target, float bias, RowScales& scales, int64_t at) const {
    constexpr float kLog2e = 1.442695041F;
    const IndexRange seen = window(target);
    check_bias(bias, seen.end - seen.begin > 1);
    const bool outside = !bias_.hidden && (seen.begin > 0 || (!causal_ && seen.end < length_));
    const float top = outside ? std::max(bias, 0.0F) : bias;
    const float largest = std::ceil(top * kLog2e);
    scales.largest.data()[at] = largest;
    scales.outside.data()[at] = outside ? std::exp2(kBiasShift - largest) : 0;
}

void BandWeights::measure(int64_t row, RowScales& scales, int64_t at,
                          WeightScratch& scratch) const {
    const int64_t end = std::min(length_, row + kRows);
    const IndexRange all{window(row).begin, window(end - 1).end};
    if (bias_.u != nullptr) multiply(row, all, scratch);
    for (int64_t t = row; t < end; ++t, ++at) {
        const IndexRange seen = window(t);
        const int64_t n = seen.end - seen.begin;
        const int64_t at_row = (t - row) * scratch.width + seen.begin - scratch.first;
        float largest = 0;
        if (bias_.u == nullptr)
            largest = kernels_.bias.largest_of(bias_.w + t * bias_.w_row + seen.begin, n);
        else if (is_short_)
            largest = kernels_.bias.largest_of(scratch.short_row.data() + at_row, n);
        else
            largest = kernels_.bias.largest_of_wide(scratch.row.data() + at_row, n);
        measure_row(t, largest, scales, at);
    }
}

void BandWeights::fill(const Into& into, WeightScratch& scratch) const {
    const int64_t rows = std::min(length_ - into.row, kRows);
    const auto [begin, end] = into.sources;
    const IndexRange part{std::max(begin, window(into.row).begin),
                          std::min(end, window(into.row + rows - 1).end)};
    if (bias_.u != nullptr && part.begin < part.end) multiply(into.row, part, scratch);
    for (int64_t i = 0; i < rows; ++i) {
        const int64_t t = into.row + i;
        const float outside = into.scales.outside.data()[into.at + i];
        WeightRow row{.begin = begin,
                      .end = end,
                      .left = outside,
                      .right = causal_ ? 0 : outside,
                      .largest = into.scales.largest.data()[into.at + i],
                      .out = into.out + i * into.out_row};
        const IndexRange seen = window(t);
        // Where none of them is in the window, all are before or all behind it.
        row.first = std::clamp(seen.begin, begin, end);
        row.last = std::clamp(seen.end, row.first, end);
        if (bias_.u == nullptr)
            row.w = bias_.w + t * bias_.w_row + row.first;
        else if (is_short_)
            row.w = scratch.short_row.data() + i * scratch.width + row.first - scratch.first;
        else
            row.wide = scratch.row.data() + i * scratch.width + row.first - scratch.first;
        kernels_.bias.weight_row(row);
    }
}

}  // namespace aft::ops::cpu

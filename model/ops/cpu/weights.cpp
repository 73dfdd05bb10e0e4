#include "model/ops/cpu/weights.h"

#include <algorithm>
#include <cmath>

namespace aft::ops::cpu {

namespace {

int64_t round_up(int64_t x, int64_t to) {
    return (x + to - 1) / to * to;
}

}  // namespace

Weights::Weights(const BandBias& bias, int64_t length, bool causal)
    : kernels_(kernels()),
      bias_(bias),
      length_(length),
      padded_(round_up(length, kTile)),
      causal_(causal) {
    if (bias_.u == nullptr) return;
    const int64_t lanes = kernels_.lanes, n = bias_.factors;
    r_ = Buffer<double>(round_up(length, lanes) * n, true);
#pragma omp parallel for schedule(static)
    for (int64_t j = 0; j < length; ++j)
        for (int64_t i = 0; i < n; ++i)
            r_.data()[(j / lanes * n + i) * lanes + j % lanes] = bias_.r[j * n + i];
}

Sources Weights::window(int64_t target) const {
    const int64_t end = causal_ ? target + 1 : std::min(length_, target + bias_.window);
    return {std::max<int64_t>(0, target - bias_.window + 1), end};
}

Sources Weights::sources(int64_t row) const {
    const int64_t last = std::min(length_, row + kRows) - 1;
    const int64_t begin = window(row).begin / kStep * kStep;
    return {begin, causal_ ? last + 1 : std::min(length_, round_up(window(last).end, kStep))};
}

Sources Weights::targets(int64_t begin, int64_t end) const {
    constexpr int64_t step = 2 * kStep;  // the rows of outer()
    const int64_t last = std::min(length_, round_up(end - 1 + bias_.window, step));
    if (causal_) return {begin, last};
    return {std::max<int64_t>(0, begin - bias_.window + 1) / step * step, last};
}

WeightScratch Weights::scratch() const {
    WeightScratch out;
    if (bias_.u == nullptr) return out;
    out.u = Buffer<double>(kRows * bias_.factors);
    const int64_t widest = std::min(length_, 2 * bias_.window + kRows + kTile);
    out.row = Buffer<double>(kRows * (round_up(widest, kernels_.lanes) + 2 * kernels_.lanes));
    return out;
}

void Weights::multiply(int64_t row, Sources sources, WeightScratch& s) const {
    if (s.target == row && s.held.begin <= sources.begin && s.held.end >= sources.end) return;
    const int64_t lanes = kernels_.lanes, n = bias_.factors;
    const int64_t first = sources.begin / lanes;
    const int64_t blocks = std::max<int64_t>(0, (sources.end + lanes - 1) / lanes - first);
    for (int64_t i = 0; i < kRows; ++i) {
        const float* u = bias_.u + std::min(row + i, length_ - 1) * n;
        std::copy(u, u + n, s.u.data() + i * n);
    }
    s.target = row;
    s.held = sources;
    s.first = first * lanes;
    s.width = blocks * lanes;
    kernels_.wide_product({.u = s.u.data(),
                           .r = r_.data() + first * n * lanes,
                           .factors = n,
                           .blocks = blocks,
                           .out = s.row.data(),
                           .row = s.width});
}

void Weights::measure_row(int64_t target, float bias, RowScales& scales, int64_t at) const {
    constexpr float kLog2e = 1.442695041F;
    const Sources seen = window(target);
    const bool outside = !bias_.hidden && (seen.begin > 0 || (!causal_ && seen.end < length_));
    const float top = outside ? std::max(bias, 0.0F) : bias;
    const float largest = std::ceil(top * kLog2e);
    scales.largest.data()[at] = largest;
    scales.outside.data()[at] = outside ? std::exp2(kBiasShift - largest) : 0;
}

void Weights::measure(int64_t row, RowScales& scales, int64_t at, WeightScratch& scratch) const {
    const int64_t end = std::min(length_, row + kRows);
    const Sources all{window(row).begin, window(end - 1).end};
    if (bias_.u != nullptr) multiply(row, all, scratch);
    for (int64_t t = row; t < end; ++t, ++at) {
        const Sources seen = window(t);
        const int64_t n = seen.end - seen.begin;
        if (bias_.u == nullptr) {
            measure_row(t, kernels_.largest_of(bias_.w + t * bias_.w_row + seen.begin, n), scales,
                        at);
        } else {
            const double* w =
                scratch.row.data() + (t - row) * scratch.width + seen.begin - scratch.first;
            measure_row(t, kernels_.largest_of_wide(w, n), scales, at);
        }
    }
}

void Weights::fill(const Into& into, WeightScratch& scratch) const {
    const int64_t rows = std::min(length_ - into.row, kRows);
    const auto [begin, end] = into.sources;
    const Sources part{std::max(begin, window(into.row).begin),
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
        const Sources seen = window(t);
        // Where none of them is in the window, all are before or all behind it.
        row.first = std::clamp(seen.begin, begin, end);
        row.last = std::clamp(seen.end, row.first, end);
        if (bias_.u == nullptr)
            row.w = bias_.w + t * bias_.w_row + row.first;
        else
            row.wide = scratch.row.data() + i * scratch.width + row.first - scratch.first;
        kernels_.weight_row(row);
    }
}

}  // namespace aft::ops::cpu

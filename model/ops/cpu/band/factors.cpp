// Gradients of u and r where w = u r^T (paper Eq. 7).
//
//   du_t = sum_j dw_tj r_j,  dr_j = sum_t dw_tj u_t
//
// Cost: 4 d' FLOP for each pair of the tiles of dw. Numerics: sums in float64, as those of dw over
// a row cancel (sum_j dw_tj is 0); every sum has one order, so that threads change nothing. With
// window 256, T = 3072, d' = 64 these sums (wide_sums) had 10 of 100 samples of a profile of the
// gradient on two cores of a Xeon with AVX-512.
#include "model/ops/cpu/band/factors.h"

#include <algorithm>

#include "core/system/flush_to_zero.h"

namespace aft::ops::cpu {

namespace {

class FactorGradients {
  public:
    FactorGradients(const BandShape& shape, const BandWeights& weights, const BiasTiles& dw,
                    const BiasGradient& x)
        : kernels_(band_kernels()), shape_(shape), weights_(weights), dw_(dw), x_(x) {}

    void run() const {
        const Buffer<float> u = padded(shape_.bias.u), r = padded(shape_.bias.r);
        const int64_t row = factor_row(), n = shape_.bias.factors;
        Buffer<double> du(weights_.padded() * row, true), dr(weights_.padded() * row, true);
#pragma omp parallel for schedule(dynamic)
        for (int64_t tile = 0; tile < weights_.padded() / kTile; ++tile) {
            const ScopedFlushToZero flush;
            add_sources(tile, r.data(), du.data());
            add_targets(tile, u.data(), dr.data());
        }
        for (int64_t t = 0; t < shape_.length; ++t)
            for (int64_t i = 0; i < n; ++i) {
                x_.du[t * n + i] = static_cast<float>(du.data()[t * row + i]);
                x_.dr[t * n + i] = static_cast<float>(dr.data()[t * row + i]);
            }
    }

  private:
    [[nodiscard]] const float* dw_of(int64_t tile) const {
        return dw_.dw + tile * dw_.most * kTile;
    }

    // [T, factors] -> [padded, factors rounded up to whole vectors]
    [[nodiscard]] Buffer<float> padded(const float* x) const {
        const int64_t n = shape_.bias.factors, row = factor_row();
        Buffer<float> out(weights_.padded() * row, true);
        for (int64_t t = 0; t < shape_.length; ++t) std::copy_n(x + t * n, n, out.data() + t * row);
        return out;
    }
    [[nodiscard]] int64_t factor_row() const {
        return (shape_.bias.factors + kernels_.lanes - 1) / kernels_.lanes * kernels_.lanes;
    }

    [[nodiscard]] IndexRange targets_of(int64_t tile) const {
        return weights_.targets(tile * kTile, std::min(shape_.length, (tile + 1) * kTile));
    }

    // Targets of this tile, over all source tiles that their windows overlap.
    void add_sources(int64_t tile, const float* r, double* du) const {
        const int64_t begin = tile * kTile, end = std::min(shape_.length, begin + kTile);
        const int64_t row = factor_row();
        for (int64_t other = 0; other < weights_.padded() / kTile; ++other) {
            const IndexRange seen = targets_of(other);
            for (int64_t t = begin; t < end; t += kRows) {
                if (t < seen.begin || t >= seen.end) continue;  // both on whole blocks
                kernels_.wide_sums({.a = dw_of(other) + (t - seen.begin) * kTile,
                                    .a_row = kTile,
                                    .a_step = 1,
                                    .b = r + other * kTile * row,
                                    .b_step = row,
                                    .steps = kTile,
                                    .blocks = row / kernels_.lanes,
                                    .sum = du + t * row,
                                    .sum_row = row});
            }
        }
    }

    void add_targets(int64_t tile, const float* u, double* dr) const {
        const IndexRange seen = targets_of(tile);
        const int64_t row = factor_row();
        for (int64_t j = 0; j < kTile; j += kRows)
            kernels_.wide_sums({.a = dw_of(tile) + j,
                                .a_row = 1,
                                .a_step = kTile,
                                .b = u + seen.begin * row,
                                .b_step = row,
                                .steps = seen.end - seen.begin,
                                .blocks = row / kernels_.lanes,
                                .sum = dr + (tile * kTile + j) * row,
                                .sum_row = row});
    }

    const BandKernels& kernels_;
    const BandShape& shape_;
    const BandWeights& weights_;
    const BiasTiles& dw_;
    const BiasGradient& x_;
};

}  // namespace

void factor_gradients(const BandShape& shape, const BandWeights& weights, const BiasTiles& tiles,
                      const BiasGradient& x) {
    FactorGradients(shape, weights, tiles, x).run();
}

}  // namespace aft::ops::cpu

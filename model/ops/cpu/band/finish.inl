// The epilogues of the banded operators: from sums to results and gradients (arguments.h says what
// each takes). Included once per instruction set.
//
//   Y = sigmoid(Q) N / D (paper Eq. 2)
//   A = P / D, C = A (mean - R) with P = dY sigmoid(Q), R = N / D
//
// Cost: one exponential and one division an entry forward, two divisions for the factors A and C.
// Numerics: sums are scaled by 2^-50 first, so that D times the gate stays in range; entries with D
// < 2^30 are set to NaN and recomputed by the exact path. With window 256, B = 4, T = 3072, d =
// 256 on two cores of a Xeon with AVX-512 finish_rows had 8 of 100 samples of a profile of the
// forward pass; row_factors had 14 of those of the gradient, and 9 with prefetching.
#pragma once
#include "model/ops/cpu/band/kernels.inl"
#include "model/ops/cpu/simd/safety.inl"

namespace aft::ops::cpu::AFT_CPU {

// The same as a reduction over many entries: are all of them safe?
struct Safety {
    V bottom = set1(-3e38F), bad = set1(0);  // largest -D; NaN where a sum is not finite

    void add(V D, V N) {
        bottom = max(set1(0) - D, bottom);
        bad = fma(D + N, set1(0), bad);
    }
    [[nodiscard]] bool holds() const {
        const V enough = select_ge(set1(-kMinDenominator), bottom, set1(1), set1(0));
        return all_set(enough, kLanes) && reduce_add(bad) == 0;
    }
};

// Y = sigmoid(Q) N / D with one division for the average and its gate. The sums are scaled down, so
// that D times the gate stays in range down to sigmoid(Q) = 2^-77. R = N / D if it is kept.
template <bool is_short>
AFT_INLINE V gated_average(V N, V D, V q) {
    const V small = set1(0x1p-50F), x = q * set1(-kLog2eHigh);
    const V e = is_short ? short_exp2(x) : exp2(x);
    return quotient<is_short>(N * small, D * fma(e, small, small));
}

// Whole vectors of rows whose averages are not kept.
template <bool streams, bool is_short, class T>
AFT_INLINE bool finish_whole(const FinishRows<T>& f) {
    Safety safety;
    const V open = set1(__builtin_inff());
    for (int64_t row = 0; row < f.rows; ++row)
#pragma GCC unroll 2
        for (int64_t at = 0; at < kChannels; at += kLanes) {
            const int64_t where = row * f.stride + at;
            const float* sums = f.sums + row * kPanel + at;
            const V D = load(sums + kChannels), N = load(sums);
            const V y = gated_average<is_short>(N, D, f.q != nullptr ? load(f.q + where) : open);
            if (streams)
                stream(f.y + where, y);
            else
                store(f.y + where, y);
            safety.add(D, N);
        }
    return safety.holds();
}

template <bool streams, bool is_short, class T>
AFT_INLINE bool finish_vector(const FinishRows<T>& f, int64_t row, int64_t at) {
    const int64_t width = streams ? kLanes : f.channels - at, where = row * f.stride + at;
    const float* sums = f.sums + row * kPanel + at;
    const V D = load(sums + kChannels), N = load(sums), open = set1(__builtin_inff());
    V y =
        gated_average<is_short>(N, D, f.q != nullptr ? load_partial(f.q + where, width, 0) : open);
    // With N finite and D large enough, N / D is finite.
    const V safe = safety_mask(D, N);
    y = select_ge(safe, set1(1), y, set1(kExactNaN));
    if (streams)
        stream(f.y + where, y);
    else
        store_partial(f.y + where, y, width);
    if (f.average != nullptr) {
        store_partial(f.average + where, N / D, width);
        store_partial(f.denominator + where, select_ge(safe, set1(1), D, set1(kNeedsExact)), width);
    }
    return all_set(safe, width);
}

// Short forms: for results in bfloat16 whose averages no gradient starts from.
template <bool streams, bool is_short, class T>
AFT_INLINE bool finish_each(const FinishRows<T>& f) {
    if (f.average == nullptr && f.channels == kChannels && finish_whole<streams, is_short>(f))
        return true;  // else once more, to flag those that are not safe
    bool safe = true;
    for (int64_t row = 0; row < f.rows; ++row)
        for (int64_t at = 0; at < f.channels; at += kLanes)
            safe = finish_vector<streams, is_short>(f, row, at) && safe;
    return safe;
}
template <bool streams, class T>
AFT_INLINE bool finish_all(const FinishRows<T>& f) {
    if constexpr (sizeof(T) == sizeof(Bf16))
        if (f.average == nullptr) return finish_each<streams, true>(f);
    return finish_each<streams, false>(f);
}

template <class T>
static bool finish_rows(const FinishRows<T>& f) {
    if (!f.streams) return finish_all<false>(f);
    const bool safe = finish_all<true>(f);
    _mm_sfence();  // the rows are seen by the other threads
    return safe;
}

// P = dY sigmoid(Q), A = P / D, C = A (mean - R), dQ = dY R sigmoid' (with R and V
// shifted by the mean of V, the difference of two large sums becomes one of small ones)
template <class T>
AFT_INLINE void factor_vector(const RowFactors<T>& f, int64_t row, int64_t at) {
    const int64_t width = f.channels - at, where = row * f.stride + at;
    const V dy = load_prefetching(f.dy + where, f.stride, width, 0) * set1(f.scale);
    const V R = load_prefetching(f.average + where, f.stride, width, 0);
    const V D = load_prefetching(f.denominator + where, f.stride, width, 1);
    V P = dy;
    if (f.q != nullptr) {
        const V gate = sigmoid(load_prefetching(f.q + where, f.stride, width, 0));
        P = dy * gate;
        store_prefetching(f.dq + where, f.stride,
                          load_partial(f.dy + where, width, 0) * R * gate * (set1(1) - gate),
                          width);
    }
    // Rows of the exact path send nothing here (their R may be anything).
    const V A = select_ge(D, set1(0), P / D, set1(0));
    const V C = select_ge(D, set1(0), A * (load_partial(f.mean + at, width, 0) - R), set1(0));
    store(f.panel + row * kPanel + at, A);
    store(f.panel + row * kPanel + kChannels + at, C);
}

template <class T>
static void row_factors(const RowFactors<T>& f) {
    for (int64_t row = 0; row < f.rows; ++row)
        for (int64_t at = 0; at < kChannels; at += kLanes) factor_vector(f, row, at);
}

static void outside_sums(const OutsideSums& o) {
    for (int i = 0; i < kPanelVectors; ++i) {
        const float* panel = o.panel + i * kLanes;
        CompensatedSum total;
        for (int64_t row = o.length - 1; row >= 0; --row) {
            if (o.causal && (row + 1) % kTile == 0 && row + 1 < o.length) {
                const float* later = o.reference + (row + 1) / kTile * kChannels;
                const int64_t at = i % kHalfPanel * kLanes;
                total.scale(load(later - kChannels + at) - load(later + at));
            }
            total.add(set1(o.weight[row]) * load(panel + row * kPanel));
            if (row % kStep == 0) store(o.after + row / kStep * kPanel + i * kLanes, total.value());
        }
        if (o.causal) continue;
        total = {};
        for (int64_t row = 0; row < o.length; ++row) {
            if (row % kStep == 0)
                store(o.before + row / kStep * kPanel + i * kLanes, total.value());
            total.add(set1(o.weight[row]) * load(panel + row * kPanel));
        }
    }
}

// dV = X SA, dK = X (V - mean) SA + X SC
template <class T>
static Norms finish_keys(const FinishKeys<T>& f) {
    V left = set1(0), part = set1(0);
    for (int64_t row = 0; row < f.rows; ++row)
        for (int64_t at = 0; at < f.channels; at += kLanes) {
            const float *x = f.panel + row * kPanel + at, *s = f.sums + row * kPanel + at;
            const int64_t width = f.channels - at, where = row * f.stride + at;
            // The scale comes last: before it nothing is near the ends of float32.
            const V scale = set1(f.scale), X = load(x + kChannels), SA = load(s);
            const V first = load(x) * SA;
            const V dk = fma(X, load(s + kChannels), first);
            store_prefetching(f.dv + where, f.stride, X * SA * scale, width);
            store_prefetching(f.dk + where, f.stride, dk * scale, width);
            left = fma(dk, dk, left);
            part = fma(first, first, part);
        }
    return {static_cast<double>(reduce_add(left)), static_cast<double>(reduce_add(part))};
}

}  // namespace aft::ops::cpu::AFT_CPU

// Kernels of the banded operators (paper Eq. 2; arguments.h says what each takes, scaling.h how
// sums stay in range). Included once per instruction set.
//
//   sum_t += E_tj [X_j V_j | X_j] over sources j           4 C FLOP a pair and block of C channels
//
// Register tile. multiply() keeps kRows x 2C sums in registers (24 of 32 with AVX-512): per source
// two loads of [X V | X] rows and six broadcast weights feed 24 multiply-adds, so that arithmetic,
// not loads, is the limit (227 of 237 GFLOP/s on two cores from the first-level cache). All indices
// into the sums are unrolled: one that is not spills them all. Numerics. Sums of multiply() and
// outer() start from zero and are added to the sums in memory at the end, so that rounding errors
// are those of a chunk's terms, then of T / kTile: 17.1 to 18.1 ms beside 17.2 to 18.8 beginning
// with the sums before (window 256, B = 4, T = 3072, d = 256, two cores of an AMD EPYC).
#pragma once
#include "model/ops/cpu/band/kernels.h"
#include "model/ops/cpu/simd/exponential.inl"

namespace aft::ops::cpu::AFT_CPU {

#if defined(AFT_CPU_AVX512)
constexpr int kPanelVectors = 4, kOuterRows = 12;
#else
constexpr int kPanelVectors = 2, kOuterRows = 6;
#endif
constexpr int64_t kPanel = kPanelVectors * kLanes;  // 2C
constexpr int64_t kChannels = kPanel / 2;           // C
constexpr int kHalfPanel = kPanelVectors / 2;       // vectors of C channels

template <int rows, int vectors>
AFT_INLINE void store_sums(const V (&sums)[rows][vectors], float* to, int64_t row) {
#pragma GCC unroll 12
    for (int r = 0; r < rows; ++r)
#pragma GCC unroll 4
        for (int i = 0; i < vectors; ++i) store(to + r * row + i * kLanes, sums[r][i]);
}
template <int rows, int vectors>
AFT_INLINE void clear_sums(V (&sums)[rows][vectors]) {
#pragma GCC unroll 12
    for (int r = 0; r < rows; ++r)
#pragma GCC unroll 4
        for (int i = 0; i < vectors; ++i) sums[r][i] = set1(0);
}
template <int rows, int vectors>
AFT_INLINE void add_to_sums(const V (&sums)[rows][vectors], float* to, int64_t row) {
#pragma GCC unroll 12
    for (int r = 0; r < rows; ++r)
#pragma GCC unroll 4
        for (int i = 0; i < vectors; ++i) {
            float* const p = to + r * row + i * kLanes;
            store(p, load(p) + sums[r][i]);
        }
}
template <int rows, int vectors>
AFT_INLINE void add_to_first(V (&sums)[rows][vectors], const ProductExtras& a) {
#pragma GCC unroll 12
    for (int r = 0; r < rows; ++r)
#pragma GCC unroll 4
        for (int i = 0; i < vectors; ++i)
            sums[r][i] = fma(set1(a.weight[r]), load(a.first + i * kLanes), sums[r][i]);
}
// Epilogue of a product M: Multiply or MultiplyBf16.
template <int rows, int vectors, class M>
AFT_INLINE void finish_sums(V (&sums)[rows][vectors], const M& m) {
    if (m.extras.first == nullptr) return add_to_sums(sums, m.sum, m.sum_row);
    add_to_first(sums, m.extras);
    store_sums(sums, m.sum, m.sum_row);
}
template <int rows, int vectors>
AFT_INLINE void add_source(V (&sums)[rows][vectors], const float* a, int64_t a_row,
                           const float* b) {
    V row[vectors];
#pragma GCC unroll 4
    for (int i = 0; i < vectors; ++i) row[i] = load(b + i * kLanes);
#pragma GCC unroll 12
    for (int r = 0; r < rows; ++r) {
        const V x = set1(a[r * a_row]);
#pragma GCC unroll 4
        for (int i = 0; i < vectors; ++i) sums[r][i] = fma(x, row[i], sums[r][i]);
    }
}
AFT_INLINE void prefetch_block(const char* row) {
    for (int64_t at = 0; at < kChannels * 4; at += 64) __builtin_prefetch(row + at, 0, 2);
}

static void multiply(const Multiply& m) {
    V sums[kRows][kPanelVectors];
    clear_sums(sums);
    const float *a = m.a, *b = m.b;
    const char* line = m.extras.prefetch;
    const int64_t a_row = m.a_row, a_step = m.a_step, b_step = m.b_step;
    const int64_t prefetches = m.extras.prefetches, prefetch_stride = m.extras.prefetch_stride;
    for (int64_t step = prefetches; step > 0;
         --step, a += a_step, b += b_step, line += prefetch_stride) {
        prefetch_block(line);
        add_source(sums, a, a_row, b);
    }
    for (int64_t step = m.steps - prefetches; step > 0; --step, a += a_step, b += b_step)
        add_source(sums, a, a_row, b);
    finish_sums(sums, m);
}

static void outer(const Multiply& m) {
    V sums[kOuterRows][2];
    clear_sums(sums);
    const float *a = m.a, *b = m.b;
    const int64_t a_row = m.a_row, a_step = m.a_step, b_step = m.b_step;
    for (int64_t step = m.steps; step > 0; --step, a += a_step, b += b_step)
        add_source(sums, a, a_row, b);
    add_to_sums(sums, m.sum, m.sum_row);
}

static void transpose(const float* from, int64_t rows, float* to) {
    constexpr int64_t lanes = 2 * kLanes;
    for (int64_t block = 0; block < rows; block += lanes, to += lanes * kPanel)
        for (int64_t c = 0; c < kPanel; c += 4)
            for (int64_t j = 0; j < lanes; j += 4) {
                const float* in = from + (block + j) * kPanel + c;
                float* out = to + c * lanes + j;
                __m128 x0 = _mm_loadu_ps(in), x1 = _mm_loadu_ps(in + kPanel);
                __m128 x2 = _mm_loadu_ps(in + 2 * kPanel), x3 = _mm_loadu_ps(in + 3 * kPanel);
                _MM_TRANSPOSE4_PS(x0, x1, x2, x3);
                _mm_storeu_ps(out, x0);
                _mm_storeu_ps(out + lanes, x1);
                _mm_storeu_ps(out + 2 * lanes, x2);
                _mm_storeu_ps(out + 3 * lanes, x3);
            }
}

static void rescale(const Rescale& r) {
    V by[kHalfPanel];
    for (int i = 0; i < kHalfPanel; ++i)
        by[i] = load(r.from + i * kLanes) - load(r.to + i * kLanes);
    for (int64_t row = 0; row < r.count; ++row)
        for (int i = 0; i < kPanelVectors; ++i) {
            float* p = r.rows + row * kPanel + i * kLanes;
            store(p, ldexp(load(p), by[i % kHalfPanel]));
        }
}

// One vector of channels of a chunk.
struct PackColumn {
    int64_t at, width;  // first channel, channels of it that exist
    V reference, mean;
    V n, d;  // sums of the chunk, those of all rows before stay in memory: both round less
};

template <class T>
AFT_INLINE V key(const PackKeys<T>& p, const PackColumn& c, int64_t row) {
    return load_partial(p.k + row * p.stride + c.at, c.width, 0);
}
template <class T>
AFT_INLINE V value(const PackKeys<T>& p, const PackColumn& c, int64_t row) {
    return load_partial(p.v + row * p.stride + c.at, c.width, 0);
}

template <class T>
static void key_reference(const PackKeys<T>& p) {
    for (int64_t at = 0; at < kChannels; at += kLanes) {
        V top = set1(-__builtin_inff());
        for (int64_t row = 0; row < p.rows; ++row)
            top =
                max(top, load_prefetching(p.k + row * p.stride + at, p.stride, p.channels - at, 0));
        store(p.reference + at, ceil(to_log2(top, set1(0))));
    }
}

// Keeps the previous reference unless the one found is kRise above it.
template <class T>
AFT_INLINE PackColumn begin_column(const PackKeys<T>& p, int64_t at) {
    const int64_t width = p.channels - at;
    PackColumn c{at,
                 width,
                 load(p.reference + at),
                 p.mean != nullptr ? load_partial(p.mean + at, width, 0) : set1(0),
                 set1(0),
                 set1(0)};
    if (p.fixed || p.previous == nullptr) return c;
    const V old = load(p.previous + at);
    c.reference = select_ge(c.reference, old + set1(kRise), c.reference, old);
    float *const n = p.state + at, *const d = n + kChannels;
    store(n, ldexp(load(n), old - c.reference));
    store(d, ldexp(load(d), old - c.reference));
    store(p.reference + at, c.reference);
    return c;
}

// Stores the running sums over all rows so far.
template <class T>
AFT_INLINE void keep_sums(const PackKeys<T>& p, const PackColumn& c, float* to) {
    store(to + c.at, load(p.state + c.at) + c.n);
    store(to + kChannels + c.at, load(p.state + kChannels + c.at) + c.d);
}

template <class T>
static void pack_keys(const PackKeys<T>& p) {
    if (!p.fixed) key_reference(p);
    PackColumn columns[kHalfPanel];
#pragma GCC unroll 2
    for (int i = 0; i < kHalfPanel; ++i) columns[i] = begin_column(p, i * kLanes);
    for (int64_t row = 0; row < p.rows; ++row) {
        float* const out = p.panel + row * kPanel;
        const bool keeps = p.before != nullptr && row % kStep == p.phase;
#pragma GCC unroll 2
        for (int i = 0; i < kHalfPanel; ++i) {
            PackColumn& c = columns[i];
            if (keeps) keep_sums(p, c, p.before + row / kStep * kPanel);
            const V x = exp_scaled(key(p, c, row), c.reference - set1(kKeyShift));
            const V xv = x * (value(p, c, row) - c.mean);
            store(out + c.at, xv);
            store(out + kChannels + c.at, x);
            c.n = c.n + xv;
            c.d = c.d + x;
        }
    }
#pragma GCC unroll 2
    for (int i = 0; i < kHalfPanel; ++i) keep_sums(p, columns[i], p.state);
    for (int64_t i = p.rows * kPanel; i < kTile * kPanel; i += kLanes) store(p.panel + i, set1(0));
}

static void sum_after(const SumAfter& s) {
    for (int i = 0; i < kPanelVectors; ++i) {
        CompensatedSum total;
        for (int64_t row = s.rows - 1; row >= 0; --row) {
            total.add(load(s.panel + row * kPanel + i * kLanes));
            if (row % kStep == 0) store(s.after + row / kStep * kPanel + i * kLanes, total.value());
        }
    }
}

// Up to kTile steps of wide_sums for all columns. The multipliers are made float64 once for all
// columns: converting and spreading them took the port of half of the multiply-adds.
AFT_INLINE void wide_steps(const WideSums& m, int64_t begin, int64_t steps) {
    typedef double W __attribute__((vector_size(kLanes * 4), aligned(8)));
    typedef float F __attribute__((vector_size(kLanes * 2), aligned(4)));
    constexpr int64_t half = kLanes / 2;
    double x[kTile * kRows];
    for (int64_t step = 0; step < steps; ++step)
        for (int64_t row = 0; row < kRows; ++row)
            x[step * kRows + row] =
                static_cast<double>(m.a[row * m.a_row + (begin + step) * m.a_step]);
    for (int64_t block = 0; block < m.blocks; ++block) {
        W sums[kRows][2];
        double* const sum = m.sum + block * kLanes;
#pragma GCC unroll 6
        for (int64_t row = 0; row < kRows; ++row)
            for (int64_t i = 0; i < 2; ++i)
                sums[row][i] = *reinterpret_cast<const W*>(sum + row * m.sum_row + i * half);
        const float* b = m.b + begin * m.b_step + block * kLanes;
        for (int64_t step = 0; step < steps; ++step, b += m.b_step) {
            const W left = __builtin_convertvector(*reinterpret_cast<const F*>(b), W);
            const W right = __builtin_convertvector(*reinterpret_cast<const F*>(b + half), W);
#pragma GCC unroll 6
            for (int64_t row = 0; row < kRows; ++row) {
                sums[row][0] += left * x[step * kRows + row];
                sums[row][1] += right * x[step * kRows + row];
            }
        }
#pragma GCC unroll 6
        for (int64_t row = 0; row < kRows; ++row)
            for (int64_t i = 0; i < 2; ++i)
                *reinterpret_cast<W*>(sum + row * m.sum_row + i * half) = sums[row][i];
    }
}

static void wide_sums(const WideSums& m) {
    for (int64_t begin = 0; begin < m.steps; begin += kTile)
        wide_steps(m, begin, m.steps - begin < kTile ? m.steps - begin : kTile);
}

}  // namespace aft::ops::cpu::AFT_CPU

// The sums of aft-conv (paper Eq. 6 and its 2-d form). Included once per instruction set.
//
//   N_t = sum_o exp(w_o) X_{t+o} V_{t+o} + sum over what is outside the window of X V, D_t alike
//
// Cost: two multiply-adds per tap inside the grid, channel and position; nothing for taps that fall
// off it. B = 16, 14x14, d = h = 384 takes 3.3 ms with s = 11, of which 1.8 ms are these products,
// at the rate of a matrix product (taps.inl), 0.3 ms the outside (outside.inl) and the rest exp(K),
// the gate, the division and memory (rows.inl). Numerics: integer log2 references per head for
// exp(K) and exp(w), so that every product is in range; what is outside is only ever added up (rows
// above, rows below, left and right of the window), never a difference. Channels are the lanes.
//
// slide() makes the products of the weights' gradient: it keeps two vectors of up to kSlide taps in
// registers (18 of 32 with AVX-512); per target one load and 18 multiply-adds, each with its source
// straight from the first-level cache: neither side waits for the other. Where a tap leaves the
// grid for some of the targets, a jump skips exactly those.
#pragma once
#include "model/ops/cpu/conv/arguments.h"
#include "model/ops/cpu/simd/exponential.inl"

namespace aft::ops::cpu::AFT_CPU {

#if defined(AFT_CPU_AVX512)
constexpr int kSlide = 9;
#else
constexpr int kSlide = 6;
#endif
constexpr int64_t kPair = 2 * kLanes;

struct Two {
    V x[2];
};
template <int R>
struct Slots {
    V x[R][2];
};

template <int R, int r>
AFT_INLINE void slot(Slots<R>& s, const float* b, const Two& a) {
    if constexpr (r < R) {
        s.x[r][0] = fma(a.x[0], load(b + r * kPair), s.x[r][0]);
        s.x[r][1] = fma(a.x[1], load(b + r * kPair + kLanes), s.x[r][1]);
    }
}

#define AFT_SLOT(r)      \
    slot<R, r>(s, b, a); \
    [[fallthrough]];

template <int R>
AFT_INLINE void slots_from(Slots<R>& s, const float* b, const Two& a, int64_t first) {
    switch (first) {
        case 0:
            AFT_SLOT(0)
        case 1:
            AFT_SLOT(1)
        case 2:
            AFT_SLOT(2)
        case 3:
            AFT_SLOT(3)
        case 4:
            AFT_SLOT(4)
        case 5:
            AFT_SLOT(5)
        case 6:
            AFT_SLOT(6)
        case 7:
            AFT_SLOT(7)
        case 8:
            AFT_SLOT(8)
        default:
            break;
    }
}

template <int R>
AFT_INLINE void slots_below(Slots<R>& s, const float* b, const Two& a, int64_t end) {
    switch (end) {
        case 9:
            AFT_SLOT(8)
        case 8:
            AFT_SLOT(7)
        case 7:
            AFT_SLOT(6)
        case 6:
            AFT_SLOT(5)
        case 5:
            AFT_SLOT(4)
        case 4:
            AFT_SLOT(3)
        case 3:
            AFT_SLOT(2)
        case 2:
            AFT_SLOT(1)
        case 1:
            AFT_SLOT(0)
        default:
            break;
    }
}
#undef AFT_SLOT

AFT_INLINE int64_t within(int64_t x, int64_t low, int64_t high) {
    return x < low ? low : (x > high ? high : x);
}

// Three runs of i: the first r are cut off, none is, the last are.
template <int R>
static void slide(const Slide& m) {
    Slots<R> s;
#pragma GCC unroll 9
    for (int r = 0; r < R; ++r) {
        s.x[r][0] = r < m.count ? load(m.sum + r * kPair) : set1(0);
        s.x[r][1] = r < m.count ? load(m.sum + r * kPair + kLanes) : set1(0);
    }
    const int64_t end = within(m.width - m.base, 0, m.n);
    const int64_t from = within(1 - R - m.base, 0, end);
    const int64_t whole = within(-m.base, from, end);
    const int64_t tail = within(m.width - m.base - R + 1, whole, end);
    const float *a_row = m.a, *b_row = m.b + m.base * kPair;
    for (int64_t row = m.rows; row > 0; --row, a_row += m.a_row, b_row += m.b_row) {
        const float* a = a_row + from * m.a_step;
        const float* b = b_row + from * kPair;
        int64_t i = from;
        for (; i < whole; ++i, a += m.a_step, b += kPair)
            slots_from<R>(s, b, {{load(a), load(a + m.second)}}, -m.base - i);
        for (; i < tail; ++i, a += m.a_step, b += kPair)
            slots_from<R>(s, b, {{load(a), load(a + m.second)}}, 0);
        for (; i < end; ++i, a += m.a_step, b += kPair)
            slots_below<R>(s, b, {{load(a), load(a + m.second)}}, m.width - m.base - i);
    }
#pragma GCC unroll 9
    for (int r = 0; r < R; ++r) {
        if (r >= m.count) break;
        store(m.sum + r * kPair, s.x[r][0]);
        store(m.sum + r * kPair + kLanes, s.x[r][1]);
    }
}

// By the number of slots; [0] is not used.
#if defined(AFT_CPU_AVX512)
constexpr SlideFunction kSlides[] = {nullptr,  slide<1>, slide<2>, slide<3>, slide<4>,
                                     slide<5>, slide<6>, slide<7>, slide<8>, slide<9>};
#else
constexpr SlideFunction kSlides[] = {nullptr,  slide<1>, slide<2>, slide<3>,
                                     slide<4>, slide<5>, slide<6>};
#endif

}  // namespace aft::ops::cpu::AFT_CPU

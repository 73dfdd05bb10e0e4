// The sums of aft-conv (paper Eq. 6 and its 2-d form). Included once per instruction set.
//
//   N_t = sum_o exp(w_o) X_{t+o} V_{t+o} + sum over what is outside the window of X V, D_t alike
//
// Cost: two multiply-adds per tap inside the grid, channel and position; nothing for taps that fall
// off it. B = 16, 14x14, d = h = 384 takes 4.1 ms with s = 11 and 5.4 ms with s = 15 on two cores,
// its multiply-adds at the rate of a matrix product 1.9 and 2.9 ms, a grouped convolution 10 ms.
// Numerics: whole log2 references per head for exp(K) and exp(w), so that every product is in
// range; what is outside is only ever added up (rows above, rows below, left and right of the
// window), never a difference. Channels are the lanes. slide() keeps two vectors of up to kSlide
// targets of a row in registers (18 of 32 with AVX-512); per tap one load of its weight and 18
// multiply-adds, each with its source straight from the first-level cache: neither side waits for
// the other. Where a tap leaves the grid for some of the targets, a jump skips exactly those.
#pragma once
#include "model/ops/cpu/conv_arguments.h"
#include "model/ops/cpu/kernels.h"
#include "model/ops/cpu/simd.inl"

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
        s.x[r][0] = r < m.count ? load(m.sum + r * kPair) : all(0);
        s.x[r][1] = r < m.count ? load(m.sum + r * kPair + kLanes) : all(0);
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

AFT_INLINE Two load_two(const float* p) {
    return {{load(p), load(p + kLanes)}};
}
AFT_INLINE void store_two(float* p, const Two& t) {
    store(p, t.x[0]);
    store(p + kLanes, t.x[1]);
}
AFT_INLINE Two operator+(const Two& a, const Two& b) {
    return {{a.x[0] + b.x[0], a.x[1] + b.x[1]}};
}
AFT_INLINE Two nothing() {
    return {{all(0), all(0)}};
}

// rows[0..height]: sums of the rows before each; with `later`, of the rows from each on.
AFT_INLINE void whole_rows(const ConvOutside& o, float* before, float* later) {
    const int64_t H = o.window.height, W = o.window.width;
    store_two(before, nothing());
    for (int64_t y = 0; y < H; ++y) {
        Two row = nothing();
        for (int64_t x = 0; x < W; ++x) row = row + load_two(o.panel + (y * W + x) * kPair);
        store_two(later + y * kPair, row);
        store_two(before + (y + 1) * kPair, load_two(before + y * kPair) + row);
    }
    store_two(later + H * kPair, nothing());
    for (int64_t y = H - 1; y >= 0; --y)
        store_two(later + y * kPair,
                  load_two(later + y * kPair) + load_two(later + (y + 1) * kPair));
}

// Sums of column x over rows [begin, end).
AFT_INLINE Two column_sum(const ConvOutside& o, int64_t x, int64_t begin, int64_t end) {
    Two sum = nothing();
    const int64_t row = o.window.width * kPair;
    const float* p = o.panel + begin * row + x * kPair;
    for (int64_t y = begin; y < end; ++y, p += row) sum = sum + load_two(p);
    return sum;
}

struct RowRange {
    int64_t begin, end;
};
// Of one row of targets: the rows left and right of the window, and what all of them see.
struct RowSides {
    int64_t y;
    RowRange left, right;
    Two base;
};

// The sides of the window: columns left of it over the rows `left`, right of it over `right`.
AFT_INLINE void side_sums(const ConvOutside& o, const RowSides& sides) {
    const ConvWindow& w = o.window;
    const RowRange left = sides.left, right = sides.right;
    const bool alike = left.begin == right.begin && left.end == right.end;
    float* columns = o.scratch + 2 * (w.height + 1) * kPair;
    if (alike)
        for (int64_t x = 0; x < w.width; ++x)
            store_two(columns + x * kPair, column_sum(o, x, left.begin, left.end));
    const auto column = [&](int64_t x, RowRange rows) {
        return alike ? load_two(columns + x * kPair) : column_sum(o, x, rows.begin, rows.end);
    };
    float* out = o.sums + sides.y * w.width * kPair;
    Two sum = sides.base;
    for (int64_t x = 0; x < w.width; ++x) {
        if (x > w.left) sum = sum + column(x - w.left - 1, left);
        store_two(out + x * kPair, sum);
    }
    sum = nothing();
    const Two one = load_two(o.one);
    for (int64_t x = w.width - 1; x >= 0; --x) {
        if (x + w.right + 1 < w.width) sum = sum + column(x + w.right + 1, right);
        const Two t = load_two(out + x * kPair) + sum;
        store_two(out + x * kPair, {{t.x[0] * one.x[0], t.x[1] * one.x[1]}});
    }
}

static void conv_rows(const ConvOutside& o) {
    whole_rows(o, o.scratch, o.scratch + (o.window.height + 1) * kPair);
}

static void conv_outside(const ConvOutside& o, int64_t y) {
    const ConvWindow& w = o.window;
    const float *before = o.scratch, *later = before + (w.height + 1) * kPair;
    const int64_t top = within(y - w.up, 0, y), end = within(y + w.down + 1, y, w.height);
    RowRange left{top, end}, right{top, end};
    if (w.causal && !w.transposed) right.end = y;
    if (w.causal && w.transposed) left.begin = y + 1;
    Two base = nothing();
    if (!w.causal || !w.transposed) base = base + load_two(before + top * kPair);
    if (!w.causal || w.transposed) base = base + load_two(later + end * kPair);
    side_sums(o, {y, left, right, base});
}

}  // namespace aft::ops::cpu::AFT_CPU

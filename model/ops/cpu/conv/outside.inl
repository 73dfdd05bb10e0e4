// What the targets of aft-conv see outside their windows (slide.inl has the formula), for two
// vectors of channels at a time. Included once per instruction set.
//
//   outside_yx = rows above and below the window of row y
//              + sum over the rows y' in the window of side_y'x
//   side_yx    = sum over x' left and right of the window of x, in row y
//
// Cost: 9 loads and additions per position (more in rows wider than kShortRow): rows enter a sum at
// the end of the window; where it would have to leave at the other end, the rows so far are summed
// again from their last one back, so that each of these sums begins at a row of the window. Only
// ever added up, never a difference: 0.3 of the 3.3 ms of 14x14, d = h = 384, s = 11, B = 16.
#pragma once
#include "model/ops/cpu/conv/slide.inl"

namespace aft::ops::cpu::AFT_CPU {

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
AFT_INLINE Two operator*(const Two& a, const Two& b) {
    return {{a.x[0] * b.x[0], a.x[1] * b.x[1]}};
}
AFT_INLINE Two nothing() {
    return {{set1(0), set1(0)}};
}

// Sum over a row of the grid, or over the rows outside a window. `is_long`: compensated
// (error-free) summation. Sums over the rows of a window are plain: windows are small.
template <bool is_long>
struct Tally {
    Two sum = nothing();

    void add(const Two& x) { sum = sum + x; }
    [[nodiscard]] Two value() const { return sum; }
};
template <>
struct Tally<true> {
    CompensatedSum of[2];

    void add(const Two& x) {
        of[0].add(x.x[0]);
        of[1].add(x.x[1]);
    }
    [[nodiscard]] Two value() const { return {{of[0].value(), of[1].value()}}; }
};

// The parts of the scratch.
AFT_INLINE float* rows_before(const ConvOutside& o) {
    return o.scratch;
}
AFT_INLINE float* rows_from(const ConvOutside& o) {
    return o.scratch + (o.window.height + 1) * kPair;
}
AFT_INLINE float* entered(const ConvOutside& o) {
    return o.scratch + 2 * (o.window.height + 1) * kPair;
}
AFT_INLINE float* side(const ConvOutside& o, int64_t y) {
    return entered(o) + (y + 1) * o.window.width * kPair;
}
AFT_INLINE bool has_sides(const ConvWindow& w) {
    return w.left + 1 < w.width || w.right + 1 < w.width;
}

// out_x = base + the sum of row b left of the window of x (if `left`) and right of it (if `right`).
// With both: returns the sum of the row.
struct Sides {
    bool left, right;
    Two base;
};
template <bool is_long>
AFT_INLINE Two add_sides_of(const ConvWindow& w, const float* b, const Sides& sides, float* out) {
    Tally<is_long> left, right;
    for (int64_t x = 0; x < w.width; ++x) {
        if (sides.left && x > w.left) left.add(load_two(b + (x - w.left - 1) * kPair));
        store_two(out + x * kPair, sides.base + left.value());
    }
    if (!sides.right) return nothing();
    for (int64_t x = w.width - w.right - 2; x >= 0; --x) {
        right.add(load_two(b + (x + w.right + 1) * kPair));
        store_two(out + x * kPair, load_two(out + x * kPair) + right.value());
    }
    const int64_t rest = w.right + 1 < w.width ? w.right + 1 : w.width;
    for (int64_t x = 0; x < rest; ++x) right.add(load_two(b + x * kPair));
    return right.value();
}

// Rounding of a sum of so few is no more than that of its terms.
constexpr int64_t kShortRow = 64;
AFT_INLINE Two side_sums(const ConvWindow& w, const float* b, const Sides& sides, float* out) {
    return w.width <= kShortRow ? add_sides_of<false>(w, b, sides, out)
                                : add_sides_of<true>(w, b, sides, out);
}

static void conv_rows(const ConvOutside& o) {
    const ConvWindow& w = o.window;
    if (w.height == 1) return;
    float *before = rows_before(o), *from = rows_from(o);
    Tally<true> before_sum, from_sum;
    store_two(before, nothing());
    for (int64_t y = 0; y < w.height; ++y) {
        const float* row = o.panel + y * w.width * kPair;
        const Two sum = side_sums(w, row, {true, true, nothing()}, side(o, y));
        store_two(from + y * kPair, sum);
        before_sum.add(sum);
        store_two(before + (y + 1) * kPair, before_sum.value());
    }
    store_two(from + w.height * kPair, nothing());
    for (int64_t y = w.height - 1; y >= 0; --y) {
        from_sum.add(load_two(from + y * kPair));
        store_two(from + y * kPair, from_sum.value());
    }
    for (int64_t x = 0; x < w.width; ++x) store_two(entered(o) + x * kPair, nothing());
}

// Sums from each row of [begin, end) to the last of them, in the place of the sides.
AFT_INLINE void sum_back(const ConvOutside& o, int64_t begin, int64_t end) {
    const int64_t row = o.window.width * kPair;
    for (float* p = side(o, end - 1) - kPair; p >= side(o, begin); p -= kPair)
        store_two(p, load_two(p) + load_two(p + row));
}

// sums = (sums or base + sides of rows [begin, end)) one
struct RowRange {
    int64_t begin, end;
    bool own;  // whether sums has a start
};
AFT_INLINE void add_sides(ConvOutside& o, const RowRange& rows, Two base) {
    const int64_t count = has_sides(o.window) && rows.begin < rows.end ? o.window.width : 0;
    float* const sum = entered(o);
    for (; count > 0 && o.end < rows.end; ++o.end) {
        const float* row = side(o, o.end);
        for (int64_t x = 0; x < count * kPair; x += kPair)
            store_two(sum + x, load_two(sum + x) + load_two(row + x));
    }
    if (count > 0 && rows.begin > o.middle) {
        sum_back(o, rows.begin, o.end);
        o.middle = o.end;
        for (int64_t x = 0; x < count * kPair; x += kPair) store_two(sum + x, nothing());
    }
    const bool back = count > 0 && rows.begin < o.middle;
    const float* const from = side(o, rows.begin);
    const Two one = load_two(o.one);
    for (int64_t x = 0; x < o.window.width * kPair; x += kPair) {
        Two t = rows.own ? load_two(o.sums + x) : base;
        if (count > 0) t = t + load_two(sum + x);
        if (back) t = t + load_two(from + x);
        store_two(o.sums + x, t * one);
    }
}

static void conv_outside(ConvOutside& o, int64_t y) {
    const ConvWindow& w = o.window;
    const int64_t top = within(y - w.up, 0, y), end = within(y + w.down + 1, y, w.height);
    RowRange rows{top, end, w.causal || w.height == 1};
    Two base = nothing();
    if (w.height > 1 && (!w.causal || !w.transposed))
        base = base + load_two(rows_before(o) + top * kPair);
    if (w.height > 1 && (!w.causal || w.transposed))
        base = base + load_two(rows_from(o) + end * kPair);
    if (rows.own) {
        const Sides sides{!w.causal || !w.transposed, !w.causal || w.transposed, base};
        (void)side_sums(w, o.panel + y * w.width * kPair, sides, o.sums);
        (w.transposed ? rows.begin : rows.end) = w.transposed ? y + 1 : y;
    }
    add_sides(o, rows, base);
}

}  // namespace aft::ops::cpu::AFT_CPU

#include "model/ops/cpu/exact/flags.h"

#include <bit>
#include <cstring>

namespace aft::ops::cpu {

namespace {

Buffer<uint8_t> filled(int64_t size, bool value) {
    Buffer<uint8_t> out(size);
    std::memset(out.data(), value ? 1 : 0, static_cast<std::size_t>(size));
    return out;
}
bool is_finite(float x) {
    return (std::bit_cast<uint32_t>(x) & 0x7f800000) != 0x7f800000;
}
bool is_finite(Bf16 x) {
    return (x & 0x7f80) != 0x7f80;
}

}  // namespace

ExactFlags::ExactFlags(const ExactShape& shape, Which which)
    : shape_(shape),
      entries_(filled(shape.columns() * shape.length, which == Which::all)),
      rows_(filled(shape.length, which == Which::all)),
      columns_(filled(shape.columns(), which == Which::all)) {}

// Rows that hold none, nearly all of them, are read once.
template <class T, class F>
void ExactFlags::set(const T* x, int64_t width, F is_wanted) {
    const int64_t n = shape_.heads * width, rows = shape_.batch * shape_.length;
    Buffer<uint8_t> holds(rows);
#pragma omp parallel for schedule(static)
    for (int64_t row = 0; row < rows; ++row) {
        const T* const from = x + row * n;
        int any = 0;
#pragma omp simd reduction(| : any)
        for (int64_t i = 0; i < n; ++i) any |= static_cast<int>(is_wanted(from[i]));
        holds.data()[row] = static_cast<uint8_t>(any);
        if (any == 0) continue;
        for (int64_t i = 0; i < n; ++i)
            if (is_wanted(from[i])) entries_.data()[row * shape_.heads + i / width] = 1;
    }
    for (int64_t row = 0; row < rows; ++row) {
        if (holds.data()[row] == 0) continue;
        rows_.data()[row % shape_.length] = 1;
        uint8_t* const columns = columns_.data() + row / shape_.length * shape_.heads;
        for (int64_t i = 0; i < shape_.heads; ++i)
            columns[i] |= entries_.data()[row * shape_.heads + i];
    }
}

template <class T>
ExactFlags ExactFlags::not_finite(const ExactShape& shape, const T* y) {
    ExactFlags out(shape, Which::none);
    out.set(y, shape.width(), [](T x) { return !is_finite(x); });
    return out;
}
template ExactFlags ExactFlags::not_finite(const ExactShape& shape, const float* y);
template ExactFlags ExactFlags::not_finite(const ExactShape& shape, const Bf16* y);

ExactFlags ExactFlags::needs_exact(const ExactShape& shape, const float* denominator) {
    ExactFlags out(shape, Which::none);
    out.set(denominator, 1, [](float x) { return x < 0; });
    return out;
}

}  // namespace aft::ops::cpu

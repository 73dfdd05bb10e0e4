// Loops over constants: what they index stays in registers, which an unrolled loop does not
// promise.
#pragma once
#include "model/ops/cpu/simd.inl"

#define AFT_LAMBDA __attribute__((always_inline))

namespace aft::ops::cpu::AFT_CPU {

template <int i>
struct Index {
    constexpr operator int() const { return i; }  // NOLINT: a number
};

// f(Index<0>()), ..., f(Index<n - 1>())
template <int n, class F>
AFT_INLINE void each(const F& f) {
    if constexpr (n > 0) {
        each<n - 1>(f);
        f(Index<n - 1>());
    }
}

}  // namespace aft::ops::cpu::AFT_CPU

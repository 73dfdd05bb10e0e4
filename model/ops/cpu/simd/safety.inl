// Which entries float32 may keep, one vector at a time; the others need the exact path (scaling.h).
// Included once per operator and instruction set.
#pragma once
#include "model/ops/cpu/scaling.h"
#include "model/ops/cpu/simd/simd.inl"

namespace aft::ops::cpu::AFT_CPU {

constexpr float kExactNaN = __builtin_nanf("");  // the result of an entry that needs the exact path

// An entry is safe if its denominator is large enough and finite, and so is its result: what
// underflow took from the sums is then far below rounding.
AFT_INLINE V safety_mask(V D, V R) {
    const V huge = set1(3e38F), nothing = set1(0);
    V safe = select_ge(D, set1(kMinDenominator), set1(1), nothing);
    safe = select_ge(huge, R, safe, nothing);
    safe = select_ge(R, set1(0) - huge, safe, nothing);
    return select_ge(huge, D, safe, nothing);
}

AFT_INLINE bool all_set(V safe, int64_t width) {
    if (width >= kLanes) return !any_ge(set1(0), safe);
    float lanes[kLanes];
    store(lanes, safe);
    for (int64_t i = 0; i < width; ++i)
        if (lanes[i] == 0) return false;
    return true;
}

}  // namespace aft::ops::cpu::AFT_CPU

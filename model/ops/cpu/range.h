// The range of the promise (ops/aft.h): above it results are finite and checked entry by entry as
// ever, but how near they are to the truth is not promised, and the user is told so, once a
// process. Single numbers may be as low as they like: nothing of them is heard beside others. Any
// thread. No LibTorch.
#pragma once
#include <cmath>
#include <cstdint>

namespace aft::ops::cpu {

constexpr float kPromised = 1000;  // of K and w

enum class Ranged { k, w };
void tell_beyond(Ranged tensor, float found);

// The largest of a row or a head, which is looked at anyway: where that is below -1000, all are.
// Infinity and NaN are no matter of range.
inline void check_bias(float w) {
    if (std::abs(w) > kPromised && std::abs(w) < 1e37F) tell_beyond(Ranged::w, w);
}
// references: of n channels or heads, powers of two that the largest keys stand `above` of.
void check_keys(const float* references, int64_t n, float above = 0);

}  // namespace aft::ops::cpu

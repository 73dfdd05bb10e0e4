// The range of the promise (ops/aft.h): beyond it results are finite and checked entry by entry as
// ever, but how near they are to the truth is not promised, and the user is told so, once a
// process: of K and w above 1000, and of rows of w or kernels that lie below -1000 as a whole.
// Single numbers may be as low as they like. Any thread. No LibTorch.
#pragma once
#include <cmath>
#include <cstdint>

namespace aft::ops::cpu {

constexpr float kPromised = 1000;  // of K and w

enum class Ranged { k, w };
void tell_beyond(Ranged tensor, float found);

// The largest of a row or a head, which is looked at anyway, and whether it stands beside others:
// alone it has no say, however low. Infinity and NaN are no matter of range.
inline void check_bias(float largest, bool beside_others) {
    const float size = beside_others ? std::abs(largest) : largest;
    if (size > kPromised && size < 1e37F) tell_beyond(Ranged::w, largest);
}
// references: of n channels or heads, powers of two that the largest keys stand `above` of.
void check_keys(const float* references, int64_t n, float above = 0);

}  // namespace aft::ops::cpu

// Warnings about inputs beyond the promised range (ops/aft.h), once a process: K and w above 1000,
// and rows of w or kernels whose largest value is below -1000. Results are then finite and still
// checked entry by entry, but their error is not bounded. Single values may be as low as they like.
// Any thread. No LibTorch.
#pragma once
#include <cmath>
#include <cstdint>

namespace aft::ops::cpu {

constexpr float kPromised = 1000;  // of K and w

enum class Ranged { k, w };
void warn_beyond_range(Ranged tensor, float found);

// largest: of a row or a head. beside_others: whether the row has more than one value; a single one
// cancels, however low. Infinity and NaN give no warning.
inline void check_bias(float largest, bool beside_others) {
    const float size = beside_others ? std::abs(largest) : largest;
    if (size > kPromised && size < 1e37F) warn_beyond_range(Ranged::w, largest);
}
// references: of n channels or heads, log2 of the largest keys less `above`.
void check_keys(const float* references, int64_t n, float above = 0);

}  // namespace aft::ops::cpu

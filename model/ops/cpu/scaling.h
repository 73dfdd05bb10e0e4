// What the kernels of all AFT operators agree on: how exponentials are scaled so that float32 holds
// them, from where on an entry needs the exact path, and what decides whether a gradient is kept.
// Pointers and sizes only. No LibTorch.
//
// References. exp(K) is stored as 2^(K log2 e - reference + kKeyShift) with an integer `reference`
// per channel and chunk of kTile sources that never falls from chunk to chunk; exp(w) as 2^(w log2
// e - largest + kBiasShift) with an integer `largest` per target. Rescaling from one reference to
// another is an exact multiplication by a power of two.
#pragma once
#include <cstdint>

namespace aft::ops::cpu {

using Bf16 = uint16_t;  // the bits of a bfloat16

constexpr int64_t kTile = 96;    // targets of a tile, sources of a chunk
constexpr float kKeyShift = 60;  // the largest product is 2^98: 2^29 is left for |V| and T
constexpr float kBiasShift = 30;
// Denominators below this are not safe. The forward sums would hold down to 2^-20. But where a
// denominator is 2^60 below its largest possible value 2^90, the biases hide the source that
// dominates, and the gradient of its bias is a small difference that float32 does not hold.
constexpr float kMinDenominator = 0x1p+30F;
constexpr float kNeedsExact = -1;  // a denominator's place holder: the entry needs the exact path

struct Norms {
    double left = 0, part = 0;  // squares of dK and of the first of its two terms, both unscaled
};

}  // namespace aft::ops::cpu

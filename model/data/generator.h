// What the built-in generators share: sizes of their splits and the random numbers of one example.
// Any thread; no state.
#pragma once
#include "core/rng.h"
#include "model/data/source.h"

namespace aft {

inline constexpr int64_t kGeneratedTrain = 1 << 20, kGeneratedHeldOut = 4096;

[[nodiscard]] inline int64_t generated_size(Split split) {
    return split == Split::train ? kGeneratedTrain : kGeneratedHeldOut;
}

// One stream per example; the splits never share one.
[[nodiscard]] inline CounterRng example_rng(uint64_t seed, Split split, int64_t index) {
    return {seed,
            (uint64_t{1} + static_cast<uint64_t>(split)) << 48 | static_cast<uint64_t>(index)};
}

}  // namespace aft

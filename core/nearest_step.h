// The stored step that stands for one that is not stored. Pure; any thread.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>

namespace aft {

// The one of `steps` (ascending) that is nearest to `step`; of two that are as near the earlier.
// -1: there is none.
[[nodiscard]] inline int64_t nearest_step(std::span<const int64_t> steps, int64_t step) {
    const auto after = std::lower_bound(steps.begin(), steps.end(), step);
    if (after == steps.begin()) return steps.empty() ? -1 : *after;
    const int64_t before = *(after - 1);
    return after != steps.end() && *after - step < step - before ? *after : before;
}

}  // namespace aft

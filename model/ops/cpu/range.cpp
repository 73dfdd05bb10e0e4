#include "model/ops/cpu/range.h"

#include <fmt/core.h>

#include "core/warnings.h"
#include "model/ops/cpu/band/kernels.h"

namespace aft::ops::cpu {

void warn_beyond_range(Ranged tensor, float found) {
    const char* name = tensor == Ranged::k ? "K" : "w";
    warn_once_about(fmt::format("{} beyond the promised range", name), [&] {
        return fmt::format(
            "{} holds {:.4g}: results are accurate for |K| and |w| up to {:.0f}, "
            "beyond that they are finite and no more is promised",
            name, found, kPromised);
    });
}

void check_keys(const float* references, int64_t n, float above) {
    constexpr float kNats = 0.693147181F;
    const float largest = kNats * (band_kernels().bias.largest_of(references, n) + above);
    if (largest > kPromised + 1 && largest < 1e37F) warn_beyond_range(Ranged::k, largest);
}

}  // namespace aft::ops::cpu

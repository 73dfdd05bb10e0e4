#include "model/ops/cpu/range.h"

#include <fmt/core.h>

#include <atomic>

#include "core/warnings.h"
#include "model/ops/cpu/band/kernels.h"

namespace aft::ops::cpu {

void warn_beyond_range(Ranged tensor, float found) {
    static std::atomic<bool> told[2];
    if (told[static_cast<int>(tensor)].exchange(true)) return;
    warn_once(
        fmt::format("{} holds {:.4g}: results are accurate for |K| and |w| up to {:.0f}, "
                    "beyond that they are finite and no more is promised",
                    tensor == Ranged::k ? "K" : "w", found, kPromised));
}

void check_keys(const float* references, int64_t n, float above) {
    constexpr float kNats = 0.693147181F;
    const float largest = kNats * (band_kernels().bias.largest_of(references, n) + above);
    if (largest > kPromised + 1 && largest < 1e37F) warn_beyond_range(Ranged::k, largest);
}

}  // namespace aft::ops::cpu

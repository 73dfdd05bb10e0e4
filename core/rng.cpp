#include "core/rng.h"

#include <cmath>
#include <numbers>

#include "core/check.h"

namespace aft {

std::array<uint32_t, 4> philox(uint64_t seed, uint64_t stream, uint64_t counter) {
    std::array<uint32_t, 4> c{static_cast<uint32_t>(counter), static_cast<uint32_t>(counter >> 32),
                              static_cast<uint32_t>(stream), static_cast<uint32_t>(stream >> 32)};
    uint32_t k0 = static_cast<uint32_t>(seed), k1 = static_cast<uint32_t>(seed >> 32);
    for (int round = 0; round < 10; ++round) {
        const uint64_t p0 = uint64_t{0xD2511F53} * c[0], p1 = uint64_t{0xCD9E8D57} * c[2];
        c = {static_cast<uint32_t>(p1 >> 32) ^ c[1] ^ k0, static_cast<uint32_t>(p1),
             static_cast<uint32_t>(p0 >> 32) ^ c[3] ^ k1, static_cast<uint32_t>(p0)};
        k0 += 0x9E3779B9;
        k1 += 0xBB67AE85;
    }
    return c;
}

double uniform(uint64_t seed, uint64_t stream, uint64_t counter) {
    const auto r = philox(seed, stream, counter);
    const uint64_t bits = (uint64_t{r[0]} << 32 | r[1]) >> 11;
    return static_cast<double>(bits) * 0x1p-53;
}

double CounterRng::uniform() {
    return aft::uniform(seed_, stream_, counter_++);
}

int64_t CounterRng::below(int64_t n) {
    AFT_ASSERT(n >= 1);
    return static_cast<int64_t>(uniform() * static_cast<double>(n));
}

double CounterRng::normal() {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
    return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

}  // namespace aft

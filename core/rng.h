// Counter-based random numbers: a pure function of (seed, stream, counter), so that results never
// depend on batching, thread count or on where a computation was resumed. Philox 4x32-10 (Salmon et
// al. 2011, SC'11). Any thread. Cost: about 10 ns per call.
#pragma once
#include <array>
#include <cstdint>

namespace aft {

[[nodiscard]] std::array<uint32_t, 4> philox(uint64_t seed, uint64_t stream, uint64_t counter);

// One number in [0, 1), 53 bits.
[[nodiscard]] double uniform(uint64_t seed, uint64_t stream, uint64_t counter);

// Draws in order from one (seed, stream): for generators and shuffles.
class CounterRng {
  public:
    CounterRng(uint64_t seed, uint64_t stream) : seed_(seed), stream_(stream) {}
    [[nodiscard]] double uniform();
    [[nodiscard]] int64_t below(int64_t n);  // in [0, n), n >= 1
    [[nodiscard]] double normal();           // N(0, 1)

  private:
    uint64_t seed_, stream_, counter_ = 0;
};

}  // namespace aft

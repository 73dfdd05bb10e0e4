// aft-local written with tensor calls: the mixer of the peer net in the training rows. No setting,
// list or help offers it, and no run is saved with it. Benchmark thread.
#pragma once

namespace aft::bench {

inline constexpr const char* kEinsumMixer = "aft-local by einsum";

// Makes the name known to configs of this process. Any number of times.
void add_einsum_mixer();

}  // namespace aft::bench

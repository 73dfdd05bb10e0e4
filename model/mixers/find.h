// The mixer of a config by its name: a room of the list, or the one that only benchmarks know.
#pragma once
#include <string>

#include "model/mixers/mixer.h"

namespace aft {

// aft-local written with tensor calls, the peer of the benchmark's training rows. Not in mixers():
// no setting, list or help offers it, and no run is saved with it.
inline constexpr const char* kEinsumMixer = "aft-local by einsum";
[[nodiscard]] const MixerRoom& einsum();

[[nodiscard]] const MixerRoom& find_mixer(const std::string& name);  // usage Error lists the rooms

}  // namespace aft

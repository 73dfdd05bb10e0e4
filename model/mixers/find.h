// The mixer of a config by its name.
#pragma once
#include <string>

#include "model/mixers/mixer.h"

namespace aft {

[[nodiscard]] const MixerRoom& find_mixer(const std::string& name);  // usage Error lists the rooms

// For programs that need a mixer which no setting, list or help offers (the benchmark's peers): it
// is found, but not in mixers(). Before other threads look for mixers.
void add_unlisted_mixer(const MixerRoom& room);

}  // namespace aft

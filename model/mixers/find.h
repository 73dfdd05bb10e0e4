// The mixer of a config by its name.
#pragma once
#include <string>

#include "model/mixers/mixer.h"

namespace aft {

[[nodiscard]] const MixerRoom& find_mixer(const std::string& name);  // usage Error lists the rooms

}  // namespace aft

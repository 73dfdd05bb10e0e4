// Options of a probe as its room declares them: the flags of `afterimage probe`, its messages and
// the window's choices come from these rows. Plain types. No LibTorch.
#pragma once
#include <string>
#include <vector>

#include "core/rooms.h"

namespace aft {

struct ProbeOption {
    std::string key;                  // "quantity"
    std::vector<std::string> values;  // what is allowed; empty: a whole number from 0
    std::string standard;             // one of them; empty for numbers, which may be left out
};

struct ProbeInfo {
    RoomInfo info;
    std::vector<ProbeOption> options;
};

}  // namespace aft

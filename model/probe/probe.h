// A probe room: what a panel shows, as numbers. A pure function of (net, request); no state, no
// thread of its own. Room = one .cpp with one exported function `ProbeRoom NAME_probe();`, listed
// in rooms.cpp.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "core/field.h"
#include "core/progress.h"
#include "core/rooms.h"
#include "model/nn/net.h"
#include "model/session.h"

namespace aft {

struct ProbeRoom {
    RoomInfo info;
    std::vector<std::string> options;  // "quantity=w|exp|exp-1|row-share (w)", one line each
    bool needs_tokens = false;
    // The first field is the main one (what `afterimage probe` writes). Checks layer, head,
    // position against the net and names the range. step: written into the fields.
    FieldSet (*run)(const Net& net, const ProbeRequest& request, int64_t step,
                    const JobControl& control) = nullptr;
};

[[nodiscard]] const std::vector<ProbeRoom>& probes();

}  // namespace aft

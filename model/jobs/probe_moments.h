// One probe at every stored step of a run: for the probe job; its thread.
#pragma once
#include <functional>
#include <string>

#include "core/field.h"
#include "core/progress.h"

namespace aft {

struct Checkpoint;
struct ProbeRoom;

// usage Error: no run folder, or nothing is stored.
void check_moments(const std::string& model);
// The main fields at the stored steps that hold what the room needs, stacked along "moment"; notes:
// "steps", and for at most 1024 series by which step half of each one's change was done ("half by",
// in their order; -1 = it does not change).
struct MomentsControl {
    const JobControl& job;
    const std::function<Field(const Checkpoint&)>& measure;  // the main field of these weights
};
[[nodiscard]] Field probe_moments(const std::string& model, const Checkpoint& newest,
                                  const ProbeRoom& room, const MomentsControl& control);

}  // namespace aft

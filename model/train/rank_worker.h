// What the ranks beside the leader do while it trains: they build the trainers that it builds, and
// take every step with it. Any thread that stays.
#pragma once
#include <ATen/core/Tensor.h>

#include "model/distributed/rank_group.h"

namespace aft {

// Until the leader is done. Error, with the rank's name, where a rank is lost; the others
// are given the words of what goes wrong here first.
void serve_training(RankGroup& group, at::Device device);

}  // namespace aft

// Rows of a user's own model beside the same with softmax attention. LibTorch inside; bench/ only.
#pragma once
#include <string>
#include <vector>

#include "bench/workloads/workload.h"
#include "model/config.h"

namespace aft::bench {

struct OwnWorkload {
    RoomInfo info;
    std::vector<RowPlan> rows;
};

// own_operator: its mixer's operator at the model's length and width, forward; own_token: the next
// token in the middle of a sequence; own_step: a training step on its own data. Each against
// softmax attention in its best form. Without those that the model has not: an operator, tokens one
// by one, a training and data for it.
[[nodiscard]] std::vector<OwnWorkload> own_workloads(const Config& config);

}  // namespace aft::bench

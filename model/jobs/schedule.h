// The learning rates that are coming, by the function that training takes them from. Plain types.
// No LibTorch. Pure; any thread.
#pragma once
#include <cstdint>
#include <vector>

#include "model/config.h"

namespace aft {

struct ComingRates {
    std::vector<double> steps{}, rates{};  // at most 161, in order; empty: no step is coming
    double peak = -1;
    int64_t peak_step = 0;  // the first that has it
};
// Of the steps after `from`, up to `until`.
[[nodiscard]] ComingRates coming_rates(const TrainConfig& train, int64_t from, int64_t until);

}  // namespace aft

// AdamW with groups (Loshchilov and Hutter 2019): decay on weights of linear maps only, a scaled
// learning rate for position biases. State is ours, so that a resumed run repeats bit for bit.
// Trainer thread.
#pragma once
#include <ATen/core/Tensor.h>

#include <vector>

#include "model/config.h"
#include "model/nn/parameters.h"

namespace aft {

struct OptimizerState {
    std::vector<at::Tensor> exp_avg, exp_avg_sq;  // one per parameter, its shape
    int64_t steps = 0;
};

class AdamW {
  public:
    explicit AdamW(Parameters& parameters);
    // A step has two halves. Squared gradient norm of each parameter (0 without a gradient):
    [[nodiscard]] std::vector<double> squared_norms() const;
    // One update from .grad with this learning rate; clips by `norm`, the square root of their sum.
    void update_clipped(const TrainConfig& config, double learning_rate, double norm);
    void zero_grad();
    [[nodiscard]] OptimizerState& state() { return state_; }
    [[nodiscard]] const OptimizerState& state() const { return state_; }

  private:
    Parameters& parameters_;
    OptimizerState state_;
};

// Learning rate of a step (0-based, t = step + 1): inverse-sqrt = lr min(t/warmup, sqrt(warmup/t))
// (Vaswani et al. 2017), cosine to 2 % after a linear warm-up, constant after a warm-up. The length
// of the schedule is schedule_steps, or the config's steps where that is 0; never where a run is
// stopped.
[[nodiscard]] double scheduled_rate(const TrainConfig& config, int64_t step);

}  // namespace aft

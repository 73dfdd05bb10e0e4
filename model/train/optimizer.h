// AdamW with groups (Loshchilov and Hutter 2019): decay on weights of linear maps only, a scaled
// learning rate for position biases. State is ours, so that a resumed run repeats bit for bit.
// Trainer thread.
#pragma once
#include <ATen/core/Tensor.h>

#include <utility>
#include <vector>

#include "model/config.h"
#include "model/distributed/shard.h"
#include "model/nn/parameters.h"

namespace aft {

struct OptimizerState {
    // One per parameter: its shape, or [count] of its shard where that is not all of it.
    std::vector<at::Tensor> exp_avg, exp_avg_sq;
    int64_t steps = 0;
};

class AdamW {
  public:
    // shards: the part of each parameter that it updates; empty = all of them.
    explicit AdamW(Parameters& parameters, Shards shards = {});
    // A step has two halves. Squared norms of the gradient of each parameter (nothing without one),
    // piece by piece of its shard: their sum in this order is that of the whole gradient.
    [[nodiscard]] std::vector<std::vector<double>> piece_squares() const;
    [[nodiscard]] std::vector<double> squared_norms() const;  // of each parameter, added up
    // One update from .grad with this learning rate; clips by `norm`, the square root of their sum.
    void update_clipped(const TrainConfig& config, double learning_rate, double norm);
    // One for each parameter: those that no update touches, nor their averages; empty = none.
    void freeze(std::vector<bool> frozen) { frozen_ = std::move(frozen); }
    [[nodiscard]] bool is_frozen(size_t parameter) const {
        return parameter < frozen_.size() && frozen_[parameter];
    }
    void zero_grad();
    [[nodiscard]] const Shards& shards() const { return shards_; }
    [[nodiscard]] OptimizerState& state() { return state_; }
    [[nodiscard]] const OptimizerState& state() const { return state_; }

  private:
    Parameters& parameters_;
    Shards shards_;
    OptimizerState state_;
    std::vector<bool> frozen_;
};

// Learning rate of a step (0-based, t = step + 1): inverse-sqrt = lr min(t/warmup, sqrt(warmup/t))
// (Vaswani et al. 2017), cosine to 2 % after a linear warm-up, constant after a warm-up. The length
// of the schedule is schedule_steps, or the config's steps where that is 0; never where a run is
// stopped.
[[nodiscard]] double scheduled_rate(const TrainConfig& config, int64_t step);

}  // namespace aft

// Exponential moving average of the weights (Polyak and Juditsky 1992; decay as in DeiT): after
// every step e = decay e + (1 - decay) w, from the weights that it starts with. Trainer thread.
#pragma once
#include <ATen/core/Tensor.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "model/nn/parameters.h"

namespace aft {

class WeightAverage {
  public:
    explicit WeightAverage(Parameters& parameters);  // outlives it; a copy of their values
    // decay in (0, 1). What is frozen and equal already stays so, bit for bit.
    void update(double decay, const std::function<bool(size_t parameter)>& is_frozen);
    // From "ema.NAME" of a checkpoint; without any of them it stays as it is. Error where one is
    // missing or has another shape or dtype.
    void load(const std::vector<std::pair<std::string, at::Tensor>>& saved);
    [[nodiscard]] const std::vector<at::Tensor>& values() const { return values_; }

    // The net computes with the average while this lives; then its weights are bit for bit what
    // they were. Needs memory for one more copy of them.
    class InUse {
      public:
        explicit InUse(WeightAverage& average);
        ~InUse();
        InUse(const InUse&) = delete;
        InUse& operator=(const InUse&) = delete;

      private:
        Parameters& parameters_;
        std::vector<at::Tensor> weights_;
    };

  private:
    Parameters& parameters_;
    std::vector<at::Tensor> values_;
};

}  // namespace aft

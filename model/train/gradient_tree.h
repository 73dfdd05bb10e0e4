// GradientTree: gradients of a power of two of micro batches, added up as a binary tree: the ranks
// of several processes hold whole branches of it, so one process gives their bits. Costs a copy of
// the gradients for every level. Trainer thread.
#pragma once
#include <ATen/core/Tensor.h>

#include <utility>
#include <vector>

#include "model/nn/parameters.h"

namespace aft {

class GradientTree {
  public:
    GradientTree(Parameters& parameters, bool is_on) : parameters_(parameters), is_on_(is_on) {}
    [[nodiscard]] bool is_on() const { return is_on_; }
    void add();     // takes .grad away, of one more micro batch
    void finish();  // .grad is the sum of all

  private:
    using Gradients = std::vector<at::Tensor>;
    Parameters& parameters_;
    bool is_on_;
    std::vector<std::pair<int, Gradients>> branches_;  // level, sum; levels fall
};

}  // namespace aft

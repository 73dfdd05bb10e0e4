#include "model/train/gradient_tree.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include "core/check.h"

namespace aft {

void GradientTree::add() {
    if (!is_on_) return;
    const c10::NoGradGuard no_grad;
    Gradients sum;
    for (Parameter& parameter : parameters_) {
        sum.push_back(parameter.value.grad());
        parameter.value.mutable_grad().reset();
    }
    int level = 0;
    for (; !branches_.empty() && branches_.back().first == level; ++level) {
        const Gradients& before = branches_.back().second;
        for (size_t i = 0; i < sum.size(); ++i) {
            if (sum[i].defined() && before[i].defined()) sum[i].add_(before[i]);
            if (!sum[i].defined()) sum[i] = before[i];
        }
        branches_.pop_back();
    }
    branches_.emplace_back(level, std::move(sum));
}

void GradientTree::finish() {
    if (!is_on_) return;
    AFT_ASSERT(branches_.size() == 1);
    for (size_t i = 0; i < parameters_.size(); ++i)
        parameters_[i].value.mutable_grad() = branches_.front().second[i];
    branches_.clear();
}

}  // namespace aft

// What autograd functions of ours share: tensors that may be undefined, as they can take and keep
// them, and the refusal of second gradients. Internal to model/ops and model/nn.
#pragma once
#include <ATen/ATen.h>

#include "core/check.h"

namespace aft::ops {

// An autograd function takes no undefined tensors: [0] stands for them.
inline at::Tensor or_nothing(const at::Tensor& x, const at::Tensor& like) {
    return x.defined() ? x : at::empty({0}, like.options());
}
inline at::Tensor or_undefined(const at::Tensor& x) {
    return x.dim() == 1 ? at::Tensor() : x;
}

// First in every backward() that autograd cannot differentiate: its result would be taken for a
// constant. Autograd enables gradients inside backward() for create_graph alone.
inline void refuse_second(const char* who) {
    AFT_CHECK(!at::GradMode::is_enabled(), "{} have no gradients of gradients (create_graph)", who);
}

}  // namespace aft::ops

// Tensors that may be undefined, as an autograd function can take and keep them. Internal to
// model/ops.
#pragma once
#include <ATen/ATen.h>

namespace aft::ops {

// An autograd function takes no undefined tensors: [0] stands for them.
inline at::Tensor or_nothing(const at::Tensor& x, const at::Tensor& like) {
    return x.defined() ? x : at::empty({0}, like.options());
}
inline at::Tensor or_undefined(const at::Tensor& x) {
    return x.dim() == 1 ? at::Tensor() : x;
}

}  // namespace aft::ops

// The position bias of one operator call, handed out and taken back in tiles (rows x sources).
// Knows windows, kernels, factors and visibility; nothing of keys and values. Internal to
// model/ops.
#pragma once
#include <ATen/core/Tensor.h>

#include "model/ops/common/groups.h"

namespace aft::ops {

struct BiasTensors {
    at::Tensor w;     // [T, T], [h, s] or [h, s, s]; undefined with factors and for simple
    at::Tensor u, r;  // [T, d']
};

class PositionBias {
  public:
    // options: dtype and device of the keys
    PositionBias(const OperatorShape& shape, BiasTensors tensors, int64_t T,
                 at::TensorOptions options);

    // Sources whose weight may differ from exp(0) for one of these rows.
    [[nodiscard]] IndexRange band(IndexRange rows) const;
    // Whether the other sources (for causal: the earlier ones) count with weight exp(0).
    [[nodiscard]] bool outside_visible() const { return !shape_.outside_hidden; }
    // [G, R, J] (G = 1 where all heads share it): 0 outside the window, -inf where invisible.
    // float64 for factors (the product is formed in it), else the dtype of w.
    [[nodiscard]] at::Tensor tile(IndexRange rows, IndexRange sources) const;

    // Gradient of a tile [G, R, J], zero where invisible. Call in a fixed order.
    void add_gradient(IndexRange rows, IndexRange sources, const at::Tensor& gradient);
    // Gradients of w, u, r in their dtypes (undefined where the tensor is).
    [[nodiscard]] BiasTensors gradient() const;
    [[nodiscard]] bool has_parameters() const { return tensors_.w.defined() || factors(); }

  private:
    [[nodiscard]] bool factors() const { return tensors_.u.defined(); }
    [[nodiscard]] bool leaves_window(IndexRange rows, IndexRange sources) const;
    [[nodiscard]] at::Tensor raw_tile(IndexRange rows, IndexRange sources) const;
    // bool [R, J]
    [[nodiscard]] at::Tensor outside_window(IndexRange rows, IndexRange sources) const;
    // int64 [R, J], s^n = outside
    [[nodiscard]] at::Tensor taps(IndexRange rows, IndexRange sources) const;
    [[nodiscard]] at::Tensor tap_sources(IndexRange rows) const;  // int64 [R, s^n], -1 = none
    void add_kernel_gradient(IndexRange rows, IndexRange sources, const at::Tensor& gradient);

    OperatorShape shape_;
    BiasTensors tensors_, gradient_;  // gradient: float64 for factors and kernels, else as w
    at::Tensor kernel_;               // conv: [h, s^n + 1], the last value that outside
    at::TensorOptions options_;
    int64_t length_ = 0;
};

}  // namespace aft::ops

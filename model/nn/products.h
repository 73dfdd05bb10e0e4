// Matrix products of the fused layers (fused.h), by the fastest of LibTorch's libraries: MKL, but
// on AMD's processors with AVX-512, for which MKL has AVX2 kernels only, oneDNN where it is faster:
// x W^T and dY W of at least 2^24 multiply-adds. Operands are all of float32, or all of bfloat16
// with sums in float32, rounded to bfloat16; results are float32. For forward and backward passes
// of fused.cpp, where no gradients are recorded. Any thread. No sum is split by the number of
// threads: one thread and many give the same bits.
#pragma once
#include <ATen/core/Tensor.h>

namespace aft::nn {

// a b: [N, K], [K, M] -> [N, M]
[[nodiscard]] at::Tensor product(const at::Tensor& a, const at::Tensor& b);
// to += a b, to [N, M] float32
void add_product(at::Tensor& to, const at::Tensor& a, const at::Tensor& b);
// dy^T x, the gradient of a weight: [N, out], [N, in] -> [out, in]. The rows are summed in pieces
// that depend on N alone, one thread a piece, and the pieces in a fixed tree. Keeps up to 8 times
// the result while it runs.
[[nodiscard]] at::Tensor weight_gradient(const at::Tensor& dy, const at::Tensor& x);
// x weight^T + bias: [N, K], [M, K], [M] -> [N, M]
[[nodiscard]] at::Tensor apply_map(const at::Tensor& x, const at::Tensor& weight,
                                   const at::Tensor& bias);

}  // namespace aft::nn

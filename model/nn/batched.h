// Products of many matrices and softmax over rows, for mixers that are plain tensor calls.
// LibTorch's own split sums, or rows into vectors and what is left over, by the number of threads;
// these do not: one thread and many give the same bits. Any thread.
#pragma once
#include <ATen/core/Tensor.h>

namespace aft::nn {

// a b: [..., N, K], [..., K, M] -> [..., N, M], the sizes before alike, of one floating dtype.
// Gradients of both are recorded; those of gradients are an Error. On other devices LibTorch's.
[[nodiscard]] at::Tensor batched_product(const at::Tensor& a, const at::Tensor& b);
// Over the last dimension of a floating tensor. The gradient is recorded, as above.
[[nodiscard]] at::Tensor row_softmax(const at::Tensor& x);

}  // namespace aft::nn

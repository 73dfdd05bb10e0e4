// The row kernels over whole matrices, on all threads of LibTorch's pool. Rows are cut into chunks
// of a fixed size and sums over rows are added chunk by chunk in order, so that every bit is the
// same whatever the number of threads. No LibTorch.
#pragma once
#include "model/nn/cpu/row_kernels.h"

namespace aft::nn::cpu {

void norm_rows(const NormRows& in);
void norm_gradient_rows(const NormGradient& in);
void gelu_rows(const Gelu& in);
void gelu_gradient_rows(const GeluGradient& in);
void gate_rows(const Gate& in);
void add_rows(const AddRows& in);
void sum_columns(const AddRows& in);
[[nodiscard]] double cross_entropy_rows(const CrossEntropy& in);

}  // namespace aft::nn::cpu

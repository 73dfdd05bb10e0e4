// The CPU backend: our own vector kernels for all of AFT, with sums in float32 and tensors in
// float32 or bfloat16 (the training path on a processor). Entries whose scaling is not safe are
// computed again by the exact path. Returns the gated result; differentiable; called by aft.cpp
// only, with checked inputs. Deterministic, whatever the number of threads.
#pragma once
#include <ATen/core/Tensor.h>

#include "model/ops/backend.h"

namespace aft::ops::cpu {

// Why there are no kernels for this operator on these tensors; nullptr if there are.
[[nodiscard]] const char* why_not(OperatorKind kind, const Inputs& in);

// For autograd.cpp.
[[nodiscard]] const BackendFunctions& functions();

// Y [B, T, d]
[[nodiscard]] at::Tensor aft(OperatorKind kind, const Inputs& in, const Options& options);

[[nodiscard]] const char* instruction_set();  // AFTERIMAGE_CPU (simd/instruction_set.h)

}  // namespace aft::ops::cpu

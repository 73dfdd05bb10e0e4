// What LibTorch can compute on a GPU, asked of its own headers, which list the kernels of CUDA also
// where there is no GPU.
#pragma once
#include <ATen/core/dispatch/Dispatcher.h>

namespace aft {

// Whether CUDA has a kernel for an operation: a function of its name, or of its name and "_out", is
// declared in ATen/ops/NAME_cuda_dispatch.h. Any thread; reads a file for each name it has not
// seen.
bool has_cuda_kernel(const c10::OperatorName& name);

}  // namespace aft

// Devices: which one, and opening LibTorch's CUDA part at run time. Call before any other LibTorch
// call.
#pragma once
#include <ATen/core/Tensor.h>

#include <string>

namespace aft {

[[nodiscard]] at::Device parse_device(
    const std::string& name);  // cpu, cuda, auto; Error says what is missing

}  // namespace aft

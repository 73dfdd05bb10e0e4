// AFTERIMAGE_DEVICE as LibTorch knows it. Inputs are made on the CPU, by the same generators as
// ever, and moved. Tests of the CPU kernels stay where they are.
#pragma once
#include "model/device.h"
#include "tests/model/device_name.h"

namespace aft {

inline at::Device test_device() {
    static const at::Device device = parse_device(test_device_name());
    return device;
}

// x itself where the device is the CPU.
inline at::Tensor on_device(const at::Tensor& x) {
    return x.defined() ? x.to(test_device()) : x;
}

}  // namespace aft

// Devices: which one, and opening LibTorch's CUDA part at run time. Called by main through
// initialize_model (jobs.h) before any other LibTorch call, later by every job. Any thread.
#pragma once
#include <ATen/core/Tensor.h>

#include <exception>
#include <functional>
#include <string>

#include "model/system.h"

namespace aft {

// cpu, cuda, auto -> a device; Error says what is missing. "cuda" works only after initialize_model
// was asked for cuda or auto: LibTorch looks for its CUDA part once.
[[nodiscard]] at::Device parse_device(const std::string& name);
// From now on parse_device knows this name too: a backend that somebody registered with LibTorch
// (the tests do, for a fake GPU). Before any other thread runs.
void add_device(const std::string& name, at::Device device);

// Runs `work`; an exception of LibTorch becomes an aft::Error of one line (out of memory: with the
// remedy), in plain_words(). aft::Error and Interrupted pass unchanged.
void with_plain_errors(const std::function<void()>& work);

}  // namespace aft

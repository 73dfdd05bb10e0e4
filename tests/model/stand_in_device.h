// A stand-in for a GPU, for tests on a machine without one: a LibTorch device ("privateuseone") whose
// memory the processor may not touch. AFTERIMAGE_DEVICE=stand-in runs the tests of models and
// sessions on it. What it finds is what a GPU would refuse: an operation that mixes devices, and code
// that reads a device's memory through its pointer (the process dies of SIGSEGV there). What it
// cannot find: whether LibTorch has a CUDA kernel for an operation, and the numerics of that kernel,
// since every operation is computed on the processor.
#pragma once
#include <ATen/core/Tensor.h>

namespace aft {

// Registers it with LibTorch, the first time; any thread.
at::Device stand_in_device();

}  // namespace aft

// What a backend is made of: one call of an operator evaluated, and its gradients, in plain tensors
// without autograd; autograd.cpp connects all backends with LibTorch's. A backend that launches
// kernels (cpu; a device) takes the tensors' pointers, and the stream where it has one. Internal to
// model/ops; on the thread that owns the tensors.
#pragma once
#include <ATen/core/Tensor.h>

#include "model/ops/aft.h"

namespace aft::ops {

// Undefined tensors stay undefined.
struct Call {
    OperatorKind kind = OperatorKind::simple;
    Options options;
    Inputs in;

    [[nodiscard]] bool is_simple() const { return kind == OperatorKind::simple; }
    [[nodiscard]] bool is_conv() const {
        return kind == OperatorKind::conv1d || kind == OperatorKind::conv2d;
    }
    [[nodiscard]] bool is_bf16() const { return in.v.scalar_type() == at::kBFloat16; }
};

// y [B, T, d], and the tensors saved for the gradient, in the backend's own layout.
struct BackendResult {
    at::Tensor y, average, denominator, states;
};

// Gradients of the inputs, in their shapes and dtypes; undefined where those are.
struct Gradients {
    at::Tensor q, k, v, w, u, r;
};

struct BackendFunctions {
    const char* name = nullptr;
    // keeps: a gradient may be wanted.
    BackendResult (*evaluate)(const Call&, bool keeps) = nullptr;
    // dy [B, T, d], contiguous. B T d > 0.
    Gradients (*differentiate)(const Call&, const BackendResult& kept,
                               const at::Tensor& dy) = nullptr;
};

}  // namespace aft::ops

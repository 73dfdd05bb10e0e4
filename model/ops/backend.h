// What a backend is made of: which calls it can do, and an operator applied differentiably. One
// with kernels of its own says how a call is evaluated and what its gradients are, in plain tensors
// without autograd, which autograd.cpp connects with LibTorch's; it takes the tensors' pointers,
// and the stream where it has one. Internal to model/ops; on the thread that owns the tensors.
#pragma once
#include <ATen/core/Tensor.h>

#include <span>

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
    bool stores_bf16 = false;  // reads and writes bfloat16 itself
    // Why it cannot compute this operator on these tensors; nullptr if it can.
    const char* (*why_not)(OperatorKind, const Inputs&, const Options&) = nullptr;
    // Y [B, T, d], gated, dtype of v. Checked inputs that why_not() lets through; differentiable.
    at::Tensor (*apply)(OperatorKind, const Inputs&, const Options&) = nullptr;

    // The call as evaluate() takes it: contiguous tensors. nullptr where the gate is a tensor call
    // of its own, so that apply() is more than evaluate().
    Call (*prepare)(OperatorKind, const Inputs&, const Options&) = nullptr;
    // Called by autograd.cpp for apply_differentiably(); nullptr where apply() is tensor calls.
    // keeps: a gradient may be wanted.
    BackendResult (*evaluate)(const Call&, bool keeps) = nullptr;
    // dy [B, T, d], contiguous. B T d > 0.
    Gradients (*differentiate)(const Call&, const BackendResult& kept,
                               const at::Tensor& dy) = nullptr;
};

// The backend that computes the call, which is checked first; Error if the one asked for cannot.
[[nodiscard]] const BackendFunctions& chosen_backend(OperatorKind kind, const Inputs& in,
                                                     const Options& options);

#define AFT_BACKEND(name)                              \
    namespace name {                                   \
    [[nodiscard]] const BackendFunctions& functions(); \
    }
#include "model/ops/backends.inl"
#undef AFT_BACKEND

// In the order of backends.inl.
[[nodiscard]] std::span<const BackendFunctions* const> backends();
[[nodiscard]] const BackendFunctions& functions_of(OperatorBackend backend);  // not automatic

}  // namespace aft::ops

#include "model/ops/aft.h"

#include <ATen/ATen.h>

#include <array>
#include <utility>

#include "core/check.h"
#include "model/ops/common/checks.h"
#include "model/ops/cpu/cpu.h"
#include "model/ops/reference/reference.h"
#include "model/ops/tiled/tiled.h"

namespace aft::ops {

namespace {

constexpr std::array<std::pair<OperatorKind, const char*>, 7> kKinds{
    {{OperatorKind::simple, "simple"},
     {OperatorKind::full, "full"},
     {OperatorKind::local, "local"},
     {OperatorKind::conv1d, "conv1d"},
     {OperatorKind::conv2d, "conv2d"},
     {OperatorKind::softmax, "softmax"},
     {OperatorKind::linear, "linear"}}};
constexpr std::array<std::pair<OperatorBackend, const char*>, 4> kBackends{
    {{OperatorBackend::automatic, "auto"},
     {OperatorBackend::reference, "reference"},
     {OperatorBackend::tiled, "tiled"},
     {OperatorBackend::cpu, "cpu"}}};

at::Tensor run_reference(OperatorKind kind, const Inputs& in, const Options& options) {
    switch (kind) {
        case OperatorKind::simple:
            return reference::simple(in, options);
        case OperatorKind::full:
            return reference::full(in, options);
        case OperatorKind::local:
            return reference::local(in, options);
        case OperatorKind::conv1d:
            return reference::conv1d(in, options);
        case OperatorKind::conv2d:
            return reference::conv2d(in, options);
        case OperatorKind::softmax:
            return reference::softmax(in, options);
        case OperatorKind::linear:
            return reference::linear(in, options);
    }
    fail("unknown operator");
}

at::Tensor run_tiled(OperatorKind kind, const Inputs& in, const Options& options) {
    if (kind == OperatorKind::softmax) return tiled::softmax(in, options);
    if (kind == OperatorKind::linear) return tiled::linear(in, options);
    return tiled::aft(kind, in, options);
}

// The cpu backend reads and writes bfloat16 itself; w, u and r are small and become float32. The
// others compute in float32 (reference: float64).
at::Tensor apply_bf16(OperatorKind kind, const Inputs& in, Options options) {
    const auto wide = [](const at::Tensor& x) {
        return x.defined() && x.scalar_type() == at::kBFloat16 ? x.to(at::kFloat) : x;
    };
    const auto is_bf16 = [](const at::Tensor& x) {
        return !x.defined() || x.scalar_type() == at::kBFloat16;
    };
    options.bf16_operands = true;
    const bool has_kernels =
        options.backend == OperatorBackend::cpu || options.backend == OperatorBackend::automatic;
    if (has_kernels && is_bf16(in.q) && is_bf16(in.k) && cpu::why_not(kind, in) == nullptr) {
        const Inputs stored{
            .q = in.q, .k = in.k, .v = in.v, .w = wide(in.w), .u = wide(in.u), .r = wide(in.r)};
        check_call(kind, stored, options);
        return cpu::aft(kind, stored, options);
    }
    return apply(kind,
                 {.q = wide(in.q),
                  .k = wide(in.k),
                  .v = wide(in.v),
                  .w = wide(in.w),
                  .u = wide(in.u),
                  .r = wide(in.r)},
                 options)
        .to(at::kBFloat16);
}

}  // namespace

at::Tensor apply(OperatorKind kind, const Inputs& in, const Options& options) {
    if (in.v.defined() && in.v.scalar_type() == at::kBFloat16) return apply_bf16(kind, in, options);
    check_call(kind, in, options);
    if (options.backend == OperatorBackend::reference) {
        const at::Tensor R = run_reference(kind, in, options);
        const bool gated = has_gate(kind) && in.q.defined();
        return (gated ? in.q.to(at::kDouble).sigmoid() * R : R).to(in.v.scalar_type());
    }
    if (options.backend == OperatorBackend::cpu)
        if (const char* const why = cpu::why_not(kind, in))
            fail_usage("the cpu backend cannot do {}: {}; use tiled or reference", kind_name(kind),
                       why);
    if (options.backend != OperatorBackend::tiled && cpu::why_not(kind, in) == nullptr)
        return cpu::aft(kind, in, options);
    const at::Tensor R = run_tiled(kind, in, options);
    return has_gate(kind) && in.q.defined() ? in.q.sigmoid() * R : R;
}

OperatorKind parse_kind(const std::string& name) {
    std::string known;
    for (const auto& [kind, text] : kKinds) {
        if (name == text) return kind;
        known += (known.empty() ? "" : ", ") + std::string(text);
    }
    fail_usage("unknown operator '{}'; allowed: {}", name, known);
}

OperatorBackend parse_backend(const std::string& name) {
    std::string known;
    for (const auto& [backend, text] : kBackends) {
        if (name == text) return backend;
        known += (known.empty() ? "" : ", ") + std::string(text);
    }
    fail_usage("unknown backend '{}'; allowed: {}", name, known);
}

const char* kind_name(OperatorKind kind) {
    for (const auto& [known, text] : kKinds)
        if (known == kind) return text;
    return "unknown";
}

at::Tensor dense_bias(OperatorKind kind, const Inputs& in, const Options& options, int64_t T) {
    at::Tensor w;
    switch (kind) {
        case OperatorKind::full:
            w = reference::full_bias(in).squeeze(0);
            break;
        case OperatorKind::local:
            if (options.window > 0) w = reference::local_bias(in, options).squeeze(0);
            break;
        case OperatorKind::conv1d:
            w = reference::conv1d_bias(in.w, T, options.causal);
            break;
        case OperatorKind::conv2d:
            w = reference::conv2d_bias(in.w, options.grid_height, options.grid_width);
            break;
        default:
            break;
    }
    if (!w.defined()) w = at::zeros({T, T}, at::kDouble);
    return options.causal ? reference::hide_future(w) : w;
}

}  // namespace aft::ops

#include "model/ops/aft.h"

#include <ATen/ATen.h>

#include <array>
#include <ranges>
#include <utility>

#include "core/check.h"
#include "model/ops/backend.h"
#include "model/ops/common/checks.h"
#include "model/ops/reference/reference.h"

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

// Of a call that is checked.
const BackendFunctions& choose(OperatorKind kind, const Inputs& in, const Options& options) {
    const OperatorBackend backend = options.backend;
    if (backend != OperatorBackend::automatic) {
        const BackendFunctions& functions = functions_of(backend);
        if (const char* const why = functions.why_not(kind, in, options))
            fail_usage("the {} backend cannot do {}: {}; use tiled or reference", functions.name,
                       kind_name(kind), why);
        return functions;
    }
    for (const BackendFunctions* const functions : backends() | std::views::reverse)
        if (functions->why_not(kind, in, options) == nullptr) return *functions;
    fail("no backend can do {}", kind_name(kind));
}

// Whether the backend that would compute the call has kernels for its bfloat16.
bool stores_bf16(OperatorKind kind, const Inputs& in, const Options& options) {
    if (options.backend == OperatorBackend::automatic) return choose(kind, in, options).stores_bf16;
    const BackendFunctions& functions = functions_of(options.backend);
    return functions.stores_bf16 && functions.why_not(kind, in, options) == nullptr;
}

// A backend that stores bfloat16 is given it, but for w, u and r, which are small and become
// float32. The others compute in float32 (reference: float64).
at::Tensor apply_bf16(OperatorKind kind, const Inputs& in, Options options) {
    const auto wide = [](const at::Tensor& x) {
        return x.defined() && x.scalar_type() == at::kBFloat16 ? x.to(at::kFloat) : x;
    };
    const auto is_bf16 = [](const at::Tensor& x) {
        return !x.defined() || x.scalar_type() == at::kBFloat16;
    };
    options.bf16_operands = true;
    if (is_bf16(in.q) && is_bf16(in.k) && stores_bf16(kind, in, options)) {
        const Inputs stored{
            .q = in.q, .k = in.k, .v = in.v, .w = wide(in.w), .u = wide(in.u), .r = wide(in.r)};
        check_call(kind, stored, options);
        return choose(kind, stored, options).apply(kind, stored, options);
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
    return chosen_backend(kind, in, options).apply(kind, in, options);
}

const BackendFunctions& chosen_backend(OperatorKind kind, const Inputs& in,
                                       const Options& options) {
    check_call(kind, in, options);
    return choose(kind, in, options);
}

OperatorKind parse_kind(const std::string& name) {
    std::string known;
    for (const auto& [kind, text] : kKinds) {
        if (name == text) return kind;
        known += (known.empty() ? "" : ", ") + std::string(text);
    }
    fail_usage("unknown operator '{}'; allowed: {}", name, known);
}

std::vector<std::string> kind_names() {
    std::vector<std::string> names;
    for (const auto& [kind, text] : kKinds) names.emplace_back(text);
    return names;
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
            w = reference::conv1d_bias(in.w, T, options);
            break;
        case OperatorKind::conv2d:
            w = reference::conv2d_bias(in.w, options);
            break;
        default:
            break;
    }
    if (!w.defined()) w = at::zeros({T, T}, at::kDouble);
    return options.causal ? reference::hide_future(w) : w;
}

}  // namespace aft::ops

#include "model/ops/cpu/cpu.h"

#include "model/ops/autograd.h"
#include "model/ops/cpu/call.h"
#include "model/ops/cpu/simd/instruction_set.h"

namespace aft::ops::cpu {

namespace {

at::Tensor rows_together(const at::Tensor& x) {  // each row of the table without gaps
    return x.defined() && x.stride(1) != 1 ? x.contiguous() : x;
}

const char* why_not(OperatorKind kind, const Inputs& in, const Options& options) {
    if (!in.v.device().is_cpu()) return "it computes on the processor only";
    if (in.v.scalar_type() != at::kFloat && in.v.scalar_type() != at::kBFloat16)
        return "it computes in float32 and bfloat16 only";
    if (kind == OperatorKind::softmax || kind == OperatorKind::linear)
        return "it has kernels for AFT only";
    const bool is_conv = kind == OperatorKind::conv1d || kind == OperatorKind::conv2d;
    if (is_conv && options.outside_hidden)
        return "it has no kernels that hide what lies outside a convolution's window";
    return nullptr;
}

Call prepare(OperatorKind kind, const Inputs& in, const Options& options) {
    // No position bias at all.
    const bool flat = kind == OperatorKind::local && options.window == 0;
    Call call{.kind = flat ? OperatorKind::simple : kind, .options = options, .in = in};
    if (flat || kind == OperatorKind::simple) call.in.w = call.in.u = call.in.r = at::Tensor();
    const auto contiguous = [](const at::Tensor& x) { return x.defined() ? x.contiguous() : x; };
    call.options.backend = OperatorBackend::cpu;
    for (at::Tensor* x : {&call.in.q, &call.in.k, &call.in.v, &call.in.u, &call.in.r})
        *x = contiguous(*x);
    call.in.w = call.is_conv() ? contiguous(call.in.w) : rows_together(call.in.w);
    return call;
}

at::Tensor apply(OperatorKind kind, const Inputs& in, const Options& options) {
    return apply_differentiably(prepare(kind, in, options));
}

}  // namespace

const char* instruction_set() {
    return chosen_set().name.data();
}

const BackendFunctions& functions() {
    static constexpr BackendFunctions table{.name = "cpu",
                                            .stores_bf16 = true,
                                            .why_not = why_not,
                                            .apply = apply,
                                            .prepare = prepare,
                                            .evaluate = evaluate,
                                            .differentiate = differentiate};
    return table;
}

}  // namespace aft::ops::cpu

// Causal or full softmax attention at the same Q, K, V: what a Transformer would run instead. Each
// processor backend of LibTorch: flash (fp32, bf16) and math. Heads of 128 channels, 64 if d > 256.
#include <ATen/ATen.h>

#include <cmath>
#include <limits>

#include "bench/peers/peer.h"

namespace aft::bench {
namespace {

at::Tensor split(const at::Tensor& x) {  // [B, T, d] -> [B, h, T, c]
    const int64_t d = x.size(2), c = d > 256 && d % 64 == 0 ? 64 : d % 128 == 0 ? 128 : d;
    return x.view({x.size(0), x.size(1), d / c, c}).transpose(1, 2);
}

at::Tensor joined(const at::Tensor& y) {  // [B, h, T, c] -> [B, T, d]
    return y.transpose(1, 2).reshape({y.size(0), y.size(2), -1});
}

// AFT-conv has one key channel a head: any [B, T, d] costs attention the same.
const at::Tensor& keys(const ops::Inputs& in) {
    return in.k.size(2) == in.v.size(2) ? in.k : in.v;
}

at::Tensor softmax(const ops::Inputs& in, bool causal) {
    const at::Tensor q = split(in.q), k = split(keys(in)), v = split(in.v);
    at::Tensor scores =
        at::matmul(q, k.transpose(2, 3)) / std::sqrt(static_cast<double>(q.size(3)));
    if (causal) {
        const int64_t T = q.size(2);
        scores = scores.masked_fill(at::ones({T, T}, at::kBool).triu(1),
                                    -std::numeric_limits<double>::infinity());
    }
    return joined(at::matmul(scores.softmax(-1), v));
}

at::Tensor flash(const ops::Inputs& in, bool causal) {
    return joined(std::get<0>(at::_scaled_dot_product_flash_attention_for_cpu(
        split(in.q), split(keys(in)), split(in.v), 0.0, causal)));
}

at::Tensor math(const ops::Inputs& in, bool causal) {
    return joined(std::get<0>(at::_scaled_dot_product_attention_math(
        split(in.q), split(keys(in)), split(in.v), {}, 0.0, causal)));
}

using Attention = at::Tensor (*)(const ops::Inputs& in, bool causal);

Form form(const std::string& name, Attention attention, at::ScalarType type, bool causal) {
    return {.name = name,
            .group = "attention",
            .type = type,
            .table = {},
            .forward = [attention, causal](const ops::Inputs& in,
                                           const at::Tensor&) { return attention(in, causal); },
            .exact = [causal](const ops::Inputs& in) { return softmax(in, causal); }};
}

std::vector<Form> forms(const Problem& problem) {
    const bool is_beside =
        problem.kind == ops::OperatorKind::local || problem.kind == ops::OperatorKind::softmax;
    if (!is_beside && problem.group != "attention") return {};
    const bool causal = problem.options.causal;
    return {form("attention flash fp32", flash, at::kFloat, causal),
            form("attention flash bf16", flash, at::kBFloat16, causal),
            form("attention math fp32", math, at::kFloat, causal)};
}

}  // namespace

PeerRoom attention_peer() {
    return {.info = {"attention", "softmax attention, each processor backend of LibTorch"},
            .forms = forms};
}

}  // namespace aft::bench

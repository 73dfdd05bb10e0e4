// The tiled weighted average and its gradient, without autograd. Internal to tiled.
#pragma once
#include "model/ops/tiled/operands.h"

namespace aft::ops::tiled {

struct Average {
    at::Tensor R;  // [G, T, N*S]
    at::Tensor D;  // [G, T, N], scaled by exp(-a - b); kNeedsExact = computed by the exact path
};
constexpr double kNeedsExact = -1;

[[nodiscard]] Average average(const Plan& plan, const PositionBias& bias);

struct KeyValueGradient {
    at::Tensor keys, values;  // as plan.x
};
// The forward pass's result and the gradient of its R.
struct Upstream {
    Average result;
    at::Tensor P;  // [G, T, N*S]
};
// Gradients of keys and values; those of the bias are added to `bias`.
[[nodiscard]] KeyValueGradient average_gradient(const Plan& plan, PositionBias& bias,
                                                const Upstream& upstream);

// Finds entries whose scaling was not safe, recomputes them exactly and flags them kNeedsExact in
// D.
void apply_exact_fallback(const Plan& plan, const PositionBias& bias, Average& result);
// Computes the entries that are flagged already.
void compute_flagged(const Plan& plan, const PositionBias& bias, Average& result);
// Gradient of the flagged entries, added to `out` and `bias`.
void add_exact_gradient(const Plan& plan, PositionBias& bias, const Upstream& upstream,
                        KeyValueGradient& out);

template <class F>
void for_blocks(IndexRange rows, int64_t block, F f) {
    for (int64_t t = rows.begin; t < rows.end; t += block)
        f(IndexRange{t, rows.end < t + block ? rows.end : t + block});
}
[[nodiscard]] inline at::Tensor rows_of(const at::Tensor& x, IndexRange rows) {
    return x.narrow(1, rows.begin, rows.size());
}

}  // namespace aft::ops::tiled

// E = exp(w - a), X = exp(K - b), [N | D] = E [X V | X] (+ exp(-a) times the sums outside the
// band), R = N / D. One matrix product per row block, the batch folded into its columns.
#include <ATen/ATen.h>

#include "model/ops/tiled/engine.h"

namespace aft::ops::tiled {

namespace {

// Sums over everything that the block sees outside its tile [G, 1, columns]
at::Tensor outside_sum(const Plan& plan, const OutsideStates& states, const BlockWeights& block) {
    const at::Tensor before = states.before.narrow(1, block.sources.begin / plan.block, 1);
    if (plan.causal) return before;
    const int64_t next = (block.sources.end + plan.block - 1) / plan.block;
    return before + states.after.narrow(1, next, 1);
}

// Operands of the row blocks of a segment.
struct SegmentOperands {
    at::Tensor operand;    // [G, J, N*S + N]
    OutsideStates states;  // undefined where nothing outside the tiles is visible
};

void average_block(const Plan& plan, const BlockWeights& block, const SegmentOperands& sources,
                   Average& out) {
    const auto& [operand, states] = sources;
    const int64_t N = plan.x.columns(), S = plan.x.width(), G = operand.size(0);
    at::Tensor ND;  // [G, rows, N*S + N]
    if (block.inside.defined()) ND = batched_product(block.inside, rows_of(operand, block.sources));
    if (block.outside.defined()) {
        const at::Tensor rest = outside_sum(plan, states, block);
        ND = ND.defined() ? ND.addcmul_(block.outside, rest) : block.outside * rest;
    }
    const at::Tensor D = ND.narrow(2, N * S, N);
    at::Tensor R = rows_of(out.R, block.rows);
    rows_of(out.D, block.rows).copy_(D);
    if (S == 1) {
        at::div_out(R, ND.narrow(2, 0, N), D);
    } else {
        const at::Tensor numerator = ND.narrow(2, 0, N * S).reshape({G, block.rows.size(), N, S});
        R.copy_((numerator / D.unsqueeze(3)).flatten(2));
    }
}

}  // namespace

Average average(const Plan& plan, const PositionBias& bias) {
    Average out{.R = at::empty_like(plan.x.values), .D = at::empty_like(plan.x.keys)};
    for (const Segment& segment : plan_segments(plan)) {
        const at::Tensor operand = operands(plan, segment, plan.x.values);
        const SegmentOperands sources{
            operand, bias.outside_visible() ? outside_states(plan, operand) : OutsideStates{}};
        for_blocks(segment.rows, plan.block, [&](IndexRange rows) {
            average_block(plan, block_weights(plan, bias, rows), sources, out);
        });
    }
    apply_exact_fallback(plan, bias, out);
    return out;
}

}  // namespace aft::ops::tiled

// With P the gradient of R, mu the mean of V (centring removes a cancellation):
//   A = P / D, C = -sum_s A (R - mu), [SA | SC] = E^T [A | C]
//   dV = X SA,  dK = sum_s (V - mu) dV + X SC,  dw = E ([A | C] [X (V - mu) | X]^T)
// Same E and X as in the forward pass. Sums run in a fixed order.
#include <ATen/ATen.h>

#include "model/ops/tiled/engine.h"

namespace aft::ops::tiled {

namespace {

struct Centred {
    at::Tensor mean;    // [G, 1, N*S]
    at::Tensor values;  // V - mean
};

Centred centre(const Plan& plan) {
    at::Tensor mean = plan.x.values.mean(1, true);
    mean.nan_to_num_(0, 0, 0);
    return {mean, plan.x.values - mean};
}

// [A | C] [G, T, N*S + N], zero where the exact path takes over
at::Tensor row_factors(const Plan& plan, const Upstream& upstream, const at::Tensor& mean) {
    const auto& [result, P] = upstream;
    const int64_t G = P.size(0), T = P.size(1), N = plan.x.columns(), S = plan.x.width();
    at::Tensor out = at::empty({G, T, N * S + N}, P.options());
    at::Tensor A = out.narrow(2, 0, N * S), C = out.narrow(2, N * S, N);
    if (S == 1) {
        at::div_out(A, P, result.D);
        at::sub_out(C, mean, result.R);
        C.mul_(A);
    } else {
        const at::Tensor wide = P.view({G, T, N, S}) / result.D.unsqueeze(3);
        A.copy_(wide.flatten(2));
        C.copy_((wide * (mean - result.R).view({G, T, N, S})).sum(3));
    }
    return out;
}

// Gradient contributions of rows, uniform over all sources before (or from) a block boundary: [G,
// blocks + 1, columns].
struct OutsideGradient {
    at::Tensor before, from;
};

class SegmentGradient {
  public:
    SegmentGradient(const Plan& plan, const Segment& segment, const Centred& centred,
                    bool has_exact)
        : plan_(plan), operand_(operands(plan, segment, centred.values)) {
        if (has_exact) operand_.nan_to_num_(0, 0, 0);  // only exact rows see those sources
        sums_ = at::zeros_like(operand_);
        const int64_t blocks = (segment.sources + plan.block - 1) / plan.block;
        const std::vector<int64_t> sizes{operand_.size(0), blocks + 1, operand_.size(2)};
        before_ = at::zeros(sizes, operand_.options());
        if (!plan.causal) from_ = at::zeros(sizes, operand_.options());
    }

    void add_block(const BlockWeights& block, const at::Tensor& factors, PositionBias& bias) {
        if (block.inside.defined()) {
            const at::Tensor E = block.inside;
            at::Tensor sums = rows_of(sums_, block.sources);
            accumulate(sums, E.transpose(1, 2), factors);
            if (bias.has_parameters()) {
                at::Tensor dw =
                    batched_product(factors, rows_of(operand_, block.sources).transpose(1, 2));
                bias.add_gradient(block.rows, block.sources, dw.mul_(E));
            }
        }
        if (!block.outside.defined()) return;
        has_outside_ = true;
        const at::Tensor sent = batched_product(block.outside.transpose(1, 2), factors);
        before_.narrow(1, block.sources.begin / plan_.block, 1).add_(sent);
        const int64_t next = (block.sources.end + plan_.block - 1) / plan_.block;
        if (from_.defined()) from_.narrow(1, next, 1).add_(sent);
    }

    void finish(const at::Tensor& centred_values, KeyValueGradient& out) {
        if (has_outside_) spread_outside();
        const int64_t J = operand_.size(1), N = plan_.x.columns(), S = plan_.x.width();
        const at::Tensor X = operand_.narrow(2, N * S, N);
        const at::Tensor SA = sums_.narrow(2, 0, N * S), SC = sums_.narrow(2, N * S, N);
        const at::Tensor V = centred_values.narrow(1, 0, J);
        at::Tensor dK = out.keys.narrow(1, 0, J);
        if (S == 1) {
            const at::Tensor dV = X * SA;
            out.values.narrow(1, 0, J).add_(dV);
            dK.addcmul_(dV, V).addcmul_(X, SC);
        } else {
            const std::vector<int64_t> wide{X.size(0), J, N, S};
            const at::Tensor dV = X.unsqueeze(3) * SA.reshape(wide);
            out.values.narrow(1, 0, J).add_(dV.flatten(2));
            dK.add_((dV * V.view(wide)).sum(3)).addcmul_(X, SC);
        }
    }

  private:
    static void accumulate(at::Tensor& sums, const at::Tensor& a, const at::Tensor& b) {
        if (sums.size(0) == 1)
            sums.squeeze(0).addmm_(a.squeeze(0), b.squeeze(0));
        else
            sums.baddbmm_(a.expand({sums.size(0), -1, -1}), b);
    }

    // A source of block i gets what was sent to "before m" for all m > i and to "from m", m <= i.
    void spread_outside() {
        const int64_t blocks = before_.size(1) - 1, J = sums_.size(1);
        at::Tensor received = before_.flip(1).cumsum(1).flip(1).narrow(1, 1, blocks);
        if (from_.defined()) received = received + from_.cumsum(1).narrow(1, 0, blocks);
        for (int64_t i = 0; i < blocks; ++i) {
            const int64_t begin = i * plan_.block, size = std::min(plan_.block, J - begin);
            sums_.narrow(1, begin, size).add_(received.narrow(1, i, 1));
        }
    }

    const Plan& plan_;
    at::Tensor operand_, sums_;  // [G, sources, N*S + N]
    at::Tensor before_, from_;   // [G, blocks + 1, N*S + N]
    bool has_outside_ = false;
};

}  // namespace

KeyValueGradient average_gradient(const Plan& plan, PositionBias& bias, const Upstream& upstream) {
    const Average& result = upstream.result;
    const Centred centred = centre(plan);
    at::Tensor factors = row_factors(plan, upstream, centred.mean);
    const bool has_exact = result.D.amin().item<double>() < 0;
    if (has_exact) {
        const at::Tensor exact = result.D.lt(0);
        const int64_t S = plan.x.width();
        factors.masked_fill_(at::cat({exact.repeat_interleave(S, 2), exact}, 2), 0);
    }
    KeyValueGradient out{.keys = at::zeros_like(plan.x.keys),
                         .values = at::zeros_like(plan.x.values)};
    for (const Segment& segment : plan_segments(plan)) {
        SegmentGradient gradient(plan, segment, centred, has_exact);
        for_blocks(segment.rows, plan.block, [&](IndexRange rows) {
            gradient.add_block(block_weights(plan, bias, rows), rows_of(factors, rows), bias);
        });
        gradient.finish(centred.values, out);
    }
    if (has_exact) add_exact_gradient(plan, bias, upstream, out);
    return out;
}

}  // namespace aft::ops::tiled

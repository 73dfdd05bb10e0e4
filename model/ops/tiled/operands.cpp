#include "model/ops/tiled/operands.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <limits>

namespace aft::ops::tiled {

namespace {

// nats by which a key may exceed its reference: exp(20) is far from overflow, and few sequences
// then need a second reference
constexpr double kRise = 20;

// Largest key of sources up to the end of each block: [G, blocks, N]
at::Tensor running_maximum(const Plan& plan) {
    const int64_t T = plan.x.length(), blocks = (T + plan.block - 1) / plan.block;
    at::Tensor keys = plan.x.keys;
    if (blocks * plan.block != T)
        keys = at::constant_pad_nd(keys, {0, 0, 0, blocks * plan.block - T},
                                   -std::numeric_limits<double>::infinity());
    const at::Tensor largest = keys.view({keys.size(0), blocks, plan.block, keys.size(2)}).amax(2);
    return std::get<0>(largest.cummax(1));
}

}  // namespace

int64_t choose_block(const OperatorShape& shape, int64_t T) {
    if (shape.row_block > 0) return std::min(shape.row_block, T);
    return std::min<int64_t>(T, 64);
}

std::vector<Segment> plan_segments(const Plan& plan) {
    const int64_t T = plan.x.length();
    if (!plan.causal) return {{{0, T}, T, plan.x.keys.amax(1, true)}};
    const at::Tensor running = running_maximum(plan);
    const int64_t blocks = running.size(1);
    std::vector<Segment> out;
    for (int64_t first = 0, next = 0; first < blocks; first = next) {
        const at::Tensor reference = running.narrow(1, first, 1);
        const auto fits = [&](int64_t block) {
            return (running.narrow(1, block, 1) - reference).amax().item<double>() <= kRise;
        };
        next = fits(blocks - 1) ? blocks : first + 1;
        while (next < blocks && fits(next)) ++next;
        const int64_t end = std::min(T, next * plan.block);
        out.push_back({{first * plan.block, end}, end, reference});
    }
    return out;
}

at::Tensor operands(const Plan& plan, const Segment& segment, const at::Tensor& values) {
    const int64_t G = values.size(0), J = segment.sources, N = plan.x.columns(), S = plan.x.width();
    at::Tensor out = at::empty({G, J, N * S + N}, values.options());
    at::Tensor X = out.narrow(2, N * S, N), XV = out.narrow(2, 0, N * S);
    at::sub_out(X, plan.x.keys.narrow(1, 0, J), segment.reference);
    X.exp_();
    if (S == 1) {
        at::mul_out(XV, X, values.narrow(1, 0, J));
    } else {
        XV.copy_((X.unsqueeze(3) * values.narrow(1, 0, J).view({G, J, N, S})).flatten(2));
    }
    return out;
}

OutsideStates outside_states(const Plan& plan, const at::Tensor& operands) {
    const int64_t G = operands.size(0), J = operands.size(1), C = operands.size(2);
    const int64_t blocks = (J + plan.block - 1) / plan.block;
    at::Tensor before = at::zeros({G, blocks + 1, C}, operands.options());
    at::Tensor after = plan.causal ? at::Tensor() : at::zeros_like(before);
    for (int64_t i = 0; i < blocks; ++i) {
        const int64_t begin = i * plan.block, size = std::min(plan.block, J - begin);
        at::Tensor sum = after.defined() ? after.narrow(1, i, 1) : before.narrow(1, i + 1, 1);
        at::sum_out(sum, operands.narrow(1, begin, size), 1, true);
    }
    if (after.defined()) {
        before.narrow(1, 1, blocks).copy_(after.narrow(1, 0, blocks));
        after = after.flip(1).cumsum(1).flip(1);
    }
    return {before.cumsum(1), after};
}

BlockWeights block_weights(const Plan& plan, const PositionBias& bias, IndexRange rows) {
    const int64_t T = plan.x.length();
    const IndexRange band = bias.band(rows);
    BlockWeights out{.rows = rows, .sources = band, .inside = {}, .outside = {}};
    out.sources.begin = band.begin / plan.block * plan.block;
    out.sources.end = std::min(T, (band.end + plan.block - 1) / plan.block * plan.block);
    if (plan.causal) out.sources.end = rows.end;
    const bool more = out.sources.begin > 0 || (!plan.causal && out.sources.end < T);
    const bool outside = more && bias.outside_visible();
    at::Tensor largest = at::zeros({1, rows.size(), 1}, plan.x.keys.options());
    if (out.sources.size() > 0) {
        const at::Tensor w = bias.tile(rows, out.sources);
        largest = w.amax(2, true);
        if (outside) largest.clamp_min_(0);
        out.inside = (w - largest).to(plan.x.keys.scalar_type()).exp_();
    }
    if (outside) out.outside = largest.neg().to(plan.x.keys.scalar_type()).exp_();
    return out;
}

at::Tensor batched_product(const at::Tensor& a, const at::Tensor& b) {
    if (b.size(0) == 1 && a.size(0) == 1) return at::mm(a.squeeze(0), b.squeeze(0)).unsqueeze(0);
    return at::bmm(a.expand({b.size(0), -1, -1}), b);
}

}  // namespace aft::ops::tiled

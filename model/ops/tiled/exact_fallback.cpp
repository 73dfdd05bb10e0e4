// An entry (row, key column) is safe if D >= 2^-60 (float64: 2^-400) and its result is finite: what
// underflow took away from the sum is then far below rounding. Everything else is computed again
// in float64 and log space: of each block and group the rows and columns that hold such an entry.
#include <ATen/ATen.h>

#include <cmath>

#include "model/ops/common/exact.h"
#include "model/ops/tiled/engine.h"

namespace aft::ops::tiled {

namespace {

double min_safe_denominator(at::ScalarType type) {
    return type == at::kDouble ? std::ldexp(1.0, -400) : std::ldexp(1.0, -60);
}

// The rows and columns of one group in one block that the exact path takes.
struct Rectangle {
    IndexRange rows;
    int64_t group = 0, sources = 0;
    at::Tensor row_index, column_index;  // int64 [r], [n]; rows relative to rows.begin
    [[nodiscard]] bool empty() const { return row_index.numel() == 0; }
};

Rectangle rectangle(const Plan& plan, const at::Tensor& chosen, IndexRange rows, int64_t group) {
    const at::Tensor part = chosen[group].narrow(0, rows.begin, rows.size());  // [R, N]
    return {.rows = rows,
            .group = group,
            .sources = plan.causal ? rows.end : plan.x.length(),
            .row_index = part.any(1).nonzero().squeeze(1),
            .column_index = part.any(0).nonzero().squeeze(1)};
}

// [J, N*S] -> [n, J, S] in float64
at::Tensor chosen_columns(const at::Tensor& x, const Rectangle& area, int64_t columns) {
    return x.view({x.size(0), columns, -1})
        .index_select(1, area.column_index)
        .to(at::kDouble)
        .transpose(0, 1)
        .contiguous();
}

ExactPart part_of(const Plan& plan, const Rectangle& area, const at::Tensor& tile) {
    const at::Tensor w = tile[tile.size(0) == 1 ? 0 : area.group];
    const int64_t N = plan.x.columns();
    const at::Tensor K = plan.x.keys[area.group].narrow(0, 0, area.sources);
    const at::Tensor V = plan.x.values[area.group].narrow(0, 0, area.sources);
    return {.bias = w.index_select(0, area.row_index).to(at::kDouble),
            .keys = chosen_columns(K, area, N).squeeze(2),
            .values = chosen_columns(V, area, N)};
}

// Calls f(rectangle, tile of its block) for every group of every block with a chosen entry.
template <class F>
void for_rectangles(const Plan& plan, const PositionBias& bias, const at::Tensor& chosen, F f) {
    for_blocks({0, plan.x.length()}, plan.block, [&](IndexRange rows) {
        if (!rows_of(chosen, rows).any().item<bool>()) return;
        at::Tensor tile = bias.tile(rows, {0, plan.causal ? rows.end : plan.x.length()});
        for (int64_t g = 0; g < plan.x.groups; ++g) {
            const Rectangle area = rectangle(plan, chosen, rows, g);
            if (!area.empty()) f(area, tile);
        }
    });
}

int64_t blocks_with(const at::Tensor& chosen, int64_t block) {
    int64_t count = 0;
    for_blocks({0, chosen.size(1)}, block,
               [&](IndexRange rows) { count += rows_of(chosen, rows).any().item<bool>() ? 1 : 0; });
    return count;
}

}  // namespace

void apply_exact_fallback(const Plan& plan, const PositionBias& bias, Average& result) {
    const double least = min_safe_denominator(result.D.scalar_type());
    // R * 0 summed is 0 if and only if all of R is finite; one pass, no mask.
    const bool safe =
        result.D.amin().item<double>() >= least && result.R.mul(0).sum().item<double>() == 0;
    if (safe) return;
    const int64_t N = plan.x.columns(), S = plan.x.width();
    const at::Tensor finite = result.R.isfinite().view({plan.x.groups, -1, N, S}).all(3);
    const at::Tensor needs_exact = result.D.ge(least).logical_and_(finite).logical_not_();
    result.D.masked_fill_(needs_exact, kNeedsExact);
    compute_flagged(plan, bias, result);
}

void compute_flagged(const Plan& plan, const PositionBias& bias, Average& result) {
    const int64_t N = plan.x.columns(), S = plan.x.width();
    const at::Tensor flagged = result.D.lt(0);
    count_exact_block(blocks_with(flagged, plan.block));
    for_rectangles(plan, bias, flagged, [&](const Rectangle& area, const at::Tensor& tile) {
        const at::Tensor R = exact_average(part_of(plan, area, tile)).transpose(0, 1);  // [r, n, S]
        const at::Tensor row = (area.row_index + area.rows.begin).unsqueeze(1);
        at::Tensor all = result.R[area.group].view({-1, N, S});
        all.index_put_({row, area.column_index}, R.to(all.scalar_type()));
        result.D[area.group].index_put_({row, area.column_index},
                                        at::scalar_tensor(kNeedsExact, result.D.options()));
    });
}

void add_exact_gradient(const Plan& plan, PositionBias& bias, const Upstream& upstream,
                        KeyValueGradient& out) {
    const int64_t N = plan.x.columns(), S = plan.x.width();
    for_rectangles(
        plan, bias, upstream.result.D.lt(0), [&](const Rectangle& area, const at::Tensor& tile) {
            const at::Tensor row = area.row_index + area.rows.begin;
            const at::Tensor rows = upstream.P[area.group].index_select(0, row);
            const ExactGradient g =
                exact_gradient(part_of(plan, area, tile), chosen_columns(rows, area, N));
            at::Tensor dK = out.keys[area.group].narrow(0, 0, area.sources);
            at::Tensor dV = out.values[area.group].narrow(0, 0, area.sources).view({-1, N, S});
            dK.index_add_(1, area.column_index, g.keys.t().to(dK.scalar_type()));
            dV.index_add_(1, area.column_index, g.values.transpose(0, 1).to(dV.scalar_type()));
            if (!bias.has_parameters()) return;
            at::Tensor dw = at::zeros_like(tile, at::kDouble);
            dw[tile.size(0) == 1 ? 0 : area.group].index_copy_(0, area.row_index, g.bias);
            bias.add_gradient(area.rows, {0, area.sources}, dw.to(tile.scalar_type()));
        });
}

}  // namespace aft::ops::tiled

#include "model/ops/common/groups.h"

#include <ATen/ATen.h>

namespace aft::ops {

bool is_convolution(OperatorKind kind) {
    return kind == OperatorKind::conv1d || kind == OperatorKind::conv2d;
}

namespace {

// [B, T, G*C] -> [G, T, B*C]
at::Tensor group(const at::Tensor& x, int64_t groups) {
    const int64_t B = x.size(0), T = x.size(1), C = x.size(2) / groups;
    return x.reshape({B, T, groups, C}).permute({2, 1, 0, 3}).reshape({groups, T, B * C});
}

}  // namespace

Grouped to_groups(OperatorKind kind, const at::Tensor& k, const at::Tensor& v) {
    const int64_t groups = is_convolution(kind) ? k.size(2) : 1;
    return {
        .keys = group(k, groups), .values = group(v, groups), .groups = groups, .batch = k.size(0)};
}

at::Tensor from_groups(const at::Tensor& grouped, const at::Tensor& like) {
    const int64_t G = grouped.size(0), B = like.size(0), T = like.size(1), d = like.size(2);
    return grouped.reshape({G, T, B, d / G}).permute({2, 1, 0, 3}).reshape({B, T, d});
}

OperatorShape shape_of(OperatorKind kind, const Options& options) {
    return {.kind = kind,
            .causal = options.causal,
            .window = options.window,
            .outside_hidden = options.outside_hidden,
            .grid_height = options.grid_height,
            .grid_width = options.grid_width,
            .row_block = options.row_block};
}

}  // namespace aft::ops

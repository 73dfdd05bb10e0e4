#include "model/ops/common/exact.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <atomic>
#include <limits>

#include "model/ops/aft.h"

namespace aft::ops {

namespace {

constexpr int64_t kPieceElements = 1 << 19;  // of the [N, R, J] weights held at a time (4 MB)
constexpr int64_t kRowsAtOnce = 64;

std::atomic<int64_t> exact_block_count{0};

// Calls f(first column, number of columns) so that columns * rows * sources stays bounded.
template <class F>
void for_column_pieces(const ExactPart& part, F f) {
    const int64_t per_column = std::max<int64_t>(1, part.bias.numel());
    const int64_t step = std::max<int64_t>(1, kPieceElements / per_column);
    for (int64_t n = 0; n < part.keys.size(0); n += step)
        f(n, std::min(step, part.keys.size(0) - n));
}

// p [n, R, J]; invisible sources weigh nothing even if their key is not finite.
at::Tensor weights(const at::Tensor& bias, const at::Tensor& invisible, const at::Tensor& keys) {
    return (keys.unsqueeze(1) + bias.unsqueeze(0))
        .masked_fill_(invisible, -std::numeric_limits<double>::infinity())
        .softmax(-1);
}

// Rows that see a value that is not finite: [n, R, S], with that value taken out of `values`.
at::Tensor poisoned_rows(const at::Tensor& invisible, at::Tensor& values) {
    const at::Tensor bad = values.isfinite().logical_not();
    values = values.masked_fill(bad, 0);
    return at::matmul(invisible.logical_not().to(at::kDouble), bad.to(at::kDouble)) > 0;
}

}  // namespace

at::Tensor exact_average(const ExactPart& part) {
    const at::Tensor invisible = part.bias.isneginf();
    at::Tensor out =
        at::empty({part.keys.size(0), part.bias.size(0), part.values.size(2)}, part.keys.options());
    for_column_pieces(part, [&](int64_t first, int64_t count) {
        at::Tensor values = part.values.narrow(0, first, count);
        const at::Tensor p = weights(part.bias, invisible, part.keys.narrow(0, first, count));
        at::Tensor poisoned;
        if (!values.isfinite().all().item<bool>()) poisoned = poisoned_rows(invisible, values);
        at::Tensor piece = at::bmm(p, values);
        if (poisoned.defined())
            piece.masked_fill_(poisoned, std::numeric_limits<double>::quiet_NaN());
        out.narrow(0, first, count).copy_(piece);
    });
    return out;
}

// With p the weights and R the average: dV = p^T P, dz = p (P V^T - P.R), dK = sum_rows dz,
// dw = sum_columns dz.
ExactGradient exact_gradient(const ExactPart& part, const at::Tensor& gradient) {
    const at::Tensor invisible = part.bias.isneginf();
    ExactGradient out{.bias = at::zeros_like(part.bias),
                      .keys = at::empty_like(part.keys),
                      .values = at::empty_like(part.values)};
    for_column_pieces(part, [&](int64_t first, int64_t count) {
        const at::Tensor values = part.values.narrow(0, first, count);
        const at::Tensor P = gradient.narrow(0, first, count);
        const at::Tensor p = weights(part.bias, invisible, part.keys.narrow(0, first, count));
        const at::Tensor R = at::bmm(p, values);
        out.values.narrow(0, first, count).copy_(at::bmm(p.transpose(1, 2), P));
        at::Tensor dz = at::bmm(P, values.transpose(1, 2));
        dz.sub_((P * R).sum(-1, true)).mul_(p);
        out.keys.narrow(0, first, count).copy_(dz.sum(1));
        out.bias.add_(dz.sum(0));
    });
    return out;
}

namespace {

// Rows [row, row + rows) of group g against the sources that they may see.
struct RowPiece {
    int64_t group, row, rows, sources;
};
template <class F>
void for_row_pieces(const at::Tensor& bias, bool causal, F f) {
    const int64_t T = bias.size(1);
    for (int64_t g = 0; g < bias.size(0); ++g)
        for (int64_t t = 0; t < T; t += kRowsAtOnce) {
            const int64_t rows = std::min(kRowsAtOnce, T - t);
            f(RowPiece{g, t, rows, causal ? t + rows : T});
        }
}

ExactPart part_of(const RowPiece& piece, const ExactProblem& x) {
    const int64_t J = piece.sources, N = x.keys.size(2), S = x.values.size(2) / N;
    return {
        .bias = x.bias[piece.group].narrow(0, piece.row, piece.rows).narrow(1, 0, J).contiguous(),
        .keys = x.keys[piece.group].narrow(0, 0, J).t().contiguous(),
        .values =
            x.values[piece.group].narrow(0, 0, J).view({J, N, S}).transpose(0, 1).contiguous()};
}

}  // namespace

at::Tensor exact_average_of_all(const ExactProblem& x) {
    at::Tensor out = at::empty_like(x.values);
    if (out.numel() == 0) return out;
    for_row_pieces(x.bias, x.causal, [&](const RowPiece& piece) {
        const at::Tensor R = exact_average(part_of(piece, x));  // [N, R, S]
        out[piece.group].narrow(0, piece.row, piece.rows).copy_(R.transpose(0, 1).flatten(1));
    });
    return out;
}

ExactGradient exact_gradient_of_all(const ExactProblem& x, const at::Tensor& gradient) {
    ExactGradient out{.bias = at::zeros_like(x.bias),
                      .keys = at::zeros_like(x.keys),
                      .values = at::zeros_like(x.values)};
    if (x.values.numel() == 0) return out;
    const int64_t N = x.keys.size(2), S = x.values.size(2) / N;
    for_row_pieces(x.bias, x.causal, [&](const RowPiece& piece) {
        const at::Tensor rows = gradient[piece.group].narrow(0, piece.row, piece.rows);
        const ExactGradient g = exact_gradient(
            part_of(piece, x), rows.view({piece.rows, N, S}).transpose(0, 1).contiguous());
        const int64_t J = piece.sources;
        out.bias[piece.group].narrow(0, piece.row, piece.rows).narrow(1, 0, J).copy_(g.bias);
        out.keys[piece.group].narrow(0, 0, J).add_(g.keys.t());
        out.values[piece.group].narrow(0, 0, J).add_(g.values.transpose(0, 1).reshape({J, N * S}));
    });
    return out;
}

int64_t exact_blocks() {
    return exact_block_count.load();
}

void count_exact_block(int64_t blocks) {
    exact_block_count += blocks;
}

}  // namespace aft::ops

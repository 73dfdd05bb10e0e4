// ||w||^2 without w.
//   aft-full,  w = u r^T:  sum_tj (u_t . r_j)^2 = <u^T u, r^T r>                    2 T d'^2
//   aft-local: the same for pairs of blocks of 64 that lie inside the band; those that its edge
//              cuts are multiplied out and masked                                   4 T d' (d' +
//              64)
// Products of u and r cancel where their rows stand at right angles, so those are of float64. A
// layer of T = 3072, s = 256, d' = 64: 1.7 ms on two busy cores, against 54 ms for w, its two
// triangles and their norm.
#include "model/train/bias_norm.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>

namespace aft {

namespace {

constexpr int64_t kBlock = 64;

double squares(const at::Tensor& x) {
    return x.square().sum(at::kDouble).item<double>();
}

at::Tensor without_masks(const at::Tensor& w) {
    return w.isneginf().any().item<bool>() ? w.masked_fill(w.isneginf(), 0) : w;
}

at::Tensor gram(const at::Tensor& x) {  // [.., T, d'] -> [.., d', d'], in float64
    const at::Tensor wide = x.to(at::kDouble);
    return at::matmul(wide.transpose(-2, -1), wide);
}

double product(const at::Tensor& a, const at::Tensor& b) {
    return std::max(0.0, a.mul(b).sum().item<double>());
}

// [T, d'] -> [T / 64 rounded up, 64, d'], filled up with zeros, which add nothing
at::Tensor in_blocks(const at::Tensor& x) {
    const int64_t short_of = (kBlock - x.size(0) % kBlock) % kBlock;
    return at::constant_pad_nd(x, {0, 0, 0, short_of}).view({-1, kBlock, x.size(1)});
}

// Blocks of rows i with blocks of columns i + 0, ..., i + `reach` on either side, all pairs.
double whole_blocks(const at::Tensor& u, const at::Tensor& r, int64_t reach) {
    const int64_t n = u.size(0);
    const at::Tensor of_u = gram(u), of_r = gram(r);
    at::Tensor near = of_r.clone();  // [n, d', d']: of the columns that a block of rows sees
    for (int64_t o = 1; o <= std::min(reach, n - 1); ++o) {
        near.narrow(0, 0, n - o).add_(of_r.narrow(0, o, n - o));
        near.narrow(0, o, n - o).add_(of_r.narrow(0, 0, n - o));
    }
    return product(of_u, near);
}

// Rows i with columns i + o, where |t - j| < window.
double cut_blocks(const at::Tensor& u, const at::Tensor& r, int64_t o, int64_t window) {
    const int64_t pairs = u.size(0) - std::abs(o);
    const at::Tensor w = at::bmm(u.narrow(0, std::max<int64_t>(-o, 0), pairs),
                                 r.narrow(0, std::max<int64_t>(o, 0), pairs).transpose(1, 2));
    // w[i][t][j] is of distance 64 o + j - t
    return squares(w.triu(1 - window - kBlock * o).tril(window - 1 - kBlock * o));
}

double band_squares(const at::Tensor& u, const at::Tensor& r, int64_t window) {
    const at::Tensor rows = in_blocks(u), columns = in_blocks(r);
    const int64_t reach = window < kBlock ? -1 : window / kBlock - 1;  // 64 reach + 63 < window
    double sum = reach < 0 ? 0 : whole_blocks(rows, columns, reach);
    for (int64_t o = reach + 1; o < rows.size(0) && kBlock * o - (kBlock - 1) < window; ++o) {
        sum += cut_blocks(rows, columns, o, window);
        if (o > 0) sum += cut_blocks(rows, columns, -o, window);
    }
    return sum;
}

}  // namespace

std::optional<double> squared_bias(const Mixer& mixer, int64_t tokens) {
    const c10::NoGradGuard no_grad;
    const StoredBias in = mixer.stored_bias(tokens);
    if (in.u.defined() && in.window > 0)
        return band_squares(in.u, in.r, std::min(in.window, tokens));
    if (in.u.defined() && in.u.size(1) < tokens) return product(gram(in.u), gram(in.r));
    if (in.w.defined() && in.window == 0) return squares(without_masks(in.w));
    const std::optional<at::Tensor> w = mixer.bias(tokens);
    if (!w) return {};
    return squares(without_masks(*w));
}

}  // namespace aft

#include "model/ops/common/log_products.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace aft::ops {

namespace {

constexpr int64_t kElementsAtOnce = 1 << 19;

// Calls f(sample, row, z) with z [R, T, d] = q + k of R rows from `row` on.
template <class F>
void for_pieces(const at::Tensor& q, const at::Tensor& k, F f) {
    const int64_t T = q.size(1), per_row = std::max<int64_t>(1, T * q.size(2));
    const int64_t step = std::max<int64_t>(1, kElementsAtOnce / per_row);
    for (int64_t b = 0; b < q.size(0); ++b)
        for (int64_t t = 0; t < T; t += step) {
            const int64_t rows = std::min(step, T - t);
            f(b, t, q[b].narrow(0, t, rows).unsqueeze(1) + k[b].unsqueeze(0));
        }
}

}  // namespace

at::Tensor log_products_of(const at::Tensor& q, const at::Tensor& k) {
    at::Tensor out = at::empty({q.size(0), q.size(1), q.size(1)}, q.options());
    for_pieces(q, k, [&](int64_t b, int64_t t, const at::Tensor& z) {
        out[b].narrow(0, t, z.size(0)).copy_(z.logsumexp(2));
    });
    return out;
}

LogProductsGradient log_products_gradient(const at::Tensor& q, const at::Tensor& k,
                                          const at::Tensor& dL) {
    LogProductsGradient out{.q = at::zeros_like(q), .k = at::zeros_like(k)};
    for_pieces(q, k, [&](int64_t b, int64_t t, const at::Tensor& z) {
        const at::Tensor rows = dL[b].narrow(0, t, z.size(0)).unsqueeze(2);
        const at::Tensor dz = z.softmax(2) * rows;  // [R, T, d]
        out.q[b].narrow(0, t, z.size(0)).copy_(dz.sum(1));
        out.k[b].add_(dz.sum(0));
    });
    return out;
}

}  // namespace aft::ops

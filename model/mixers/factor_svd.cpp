#include "model/mixers/factor_svd.h"

#include <ATen/ATen.h>

namespace aft {

FactorSvd svd_of_factors(const at::Tensor& u, const at::Tensor& r) {
    const auto wide = [](const at::Tensor& x) { return x.detach().to(at::kCPU, at::kDouble); };
    const auto [qu, ru] = at::linalg_qr(wide(u));
    const auto [qr, rr] = at::linalg_qr(wide(r));
    const auto [left, values, right] = at::linalg_svd(at::matmul(ru, rr.t()), false);
    return {at::matmul(qu, left), values, at::matmul(qr, right.t())};
}

}  // namespace aft

// Singular value decomposition of a position bias of factors, w = u r^T, without w. CPU, float64.
// Any thread; O(T d'^2).
#pragma once
#include <ATen/core/Tensor.h>

namespace aft {

struct FactorSvd {
    at::Tensor left, values, right;  // [T, n], [n] from the largest on, [T, n]; n = min(T, d')
};
// u, r: [T, d'], of any dtype and device. From their QR decompositions.
[[nodiscard]] FactorSvd svd_of_factors(const at::Tensor& u, const at::Tensor& r);

}  // namespace aft

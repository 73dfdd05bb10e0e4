#include "model/nn/fused_parts.h"

#include <ATen/ATen.h>

#include "model/nn/cpu/rows.h"
#include "model/nn/products.h"

namespace aft::nn {

at::Tensor rows_of(const at::Tensor& x) {
    return x.reshape({-1, x.size(-1)}).contiguous();
}

at::Tensor operand(const at::Tensor& x, Arithmetic arithmetic) {
    return arithmetic == Arithmetic::bf16 ? x.to(at::kBFloat16) : x;
}

at::Tensor column_sums(const at::Tensor& x) {
    at::Tensor sums = at::empty({x.size(1)}, x.options());
    cpu::sum_columns(
        {.x = pointer(x), .rows = x.size(0), .width = x.size(1), .sums = sums.data_ptr<float>()});
    return sums;
}

at::Tensor Normed::operator()() {
    at::Tensor y = at::empty_like(x);
    const bool known = stats.defined();
    if (!known) stats = at::empty({x.size(0), 2}, x.options());
    cpu::norm_rows({.x = pointer(x),
                    .rows = x.size(0),
                    .width = x.size(1),
                    .weight = pointer(weight),
                    .bias = pointer(bias),
                    .eps = static_cast<float>(eps),
                    .stats = stats.data_ptr<float>(),
                    .known = known,
                    .y = y.data_ptr<float>()});
    return y;
}

std::pair<at::Tensor, at::Tensor> Normed::gradient(at::Tensor& dy, const at::Tensor& added) const {
    const at::Tensor sums = at::empty({2, x.size(1)}, x.options());
    cpu::norm_gradient_rows({.x = pointer(x),
                             .stats = pointer(stats),
                             .weight = pointer(weight),
                             .dy = pointer(dy),
                             .added = added.defined() ? pointer(added) : nullptr,
                             .rows = x.size(0),
                             .width = x.size(1),
                             .dx = dy.data_ptr<float>(),
                             .sums = sums.data_ptr<float>()});
    return {sums[0], sums[1]};
}

at::Tensor joined(const BranchTail& in) {
    if (in.mask.numel() > 0) {
        at::Tensor y = product(in.from, in.weight.t());
        return y.add_(in.bias).mul_(in.mask.view_as(y)).add_(in.x);
    }
    at::Tensor y = at::empty_like(in.x);
    cpu::add_rows({.x = pointer(in.x),
                   .bias = pointer(in.bias),
                   .rows = y.size(0),
                   .width = y.size(1),
                   .y = y.data_ptr<float>()});
    add_product(y, in.from, in.weight.t());
    return y;
}

at::Tensor mask_of(const BranchEnd& end, const at::Tensor& x) {
    if (end.dropout == nullptr || end.dropout->is_off()) return at::empty({0}, x.options());
    return end.dropout->mask(x);
}

}  // namespace aft::nn

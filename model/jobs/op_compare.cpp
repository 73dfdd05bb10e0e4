#include "model/jobs/op_compare.h"

#include <ATen/ATen.h>

#include "core/check.h"
#include "core/outside.h"
#include "model/checkpoints/format.h"

namespace aft {
namespace {

// [1, 2, 3] of the element at `index` of contiguous values of that shape.
std::vector<int64_t> place_of(int64_t index, at::IntArrayRef shape) {
    std::vector<int64_t> place(shape.size());
    for (size_t i = shape.size(); i-- > 0; index /= shape[i]) place[i] = index % shape[i];
    return place;
}

// 0 where both are the same, infinities and NaN included; infinite where one alone is not finite.
at::Tensor distances(const at::Tensor& theirs, const at::Tensor& ours) {
    const at::Tensor same = theirs.eq(ours).logical_or(theirs.isnan().logical_and(ours.isnan()));
    const at::Tensor away = (theirs - ours).abs();
    const at::Tensor known = at::where(away.isnan(), at::full_like(away, INFINITY), away);
    return at::where(same, at::zeros_like(away), known);
}

OpDifference difference(const at::Tensor& theirs, const at::Tensor& ours, const std::string& name) {
    OpDifference out{.name = name, .shape = ours.sizes().vec()};
    if (ours.numel() == 0) return out;
    const at::Tensor away = distances(theirs, ours).flatten();
    const int64_t index = away.argmax().item<int64_t>();
    out.largest = away[index].item<double>();
    out.at = place_of(index, ours.sizes());
    out.theirs = theirs.flatten()[index].item<double>();
    out.ours = ours.flatten()[index].item<double>();
    out.not_finite = theirs.isfinite().logical_not().sum().item<int64_t>();
    const double scale =
        at::where(ours.isfinite(), ours.abs(), at::zeros_like(ours)).max().item<double>();
    out.relative = out.largest == 0 ? 0 : out.largest / scale;
    return out;
}

}  // namespace

std::vector<OpDifference> compare_outputs(const TensorFile& theirs, const TensorFile& ours,
                                          const OpRequest& request) {
    std::vector<OpDifference> all;
    for (const auto& [name, computed] : ours.tensors) {
        const at::Tensor* const found = theirs.find(name);
        AFT_CHECK(
            found != nullptr || name != "y",
            "{}: tensor 'y' is missing: --compare needs what your own code gives for q, k and "
            "v of this file",
            request.in);
        if (found == nullptr) continue;
        AFT_CHECK(found->is_floating_point(), "{}: tensor '{}' is {}; allowed: floating point",
                  request.in, name, c10::toString(found->scalar_type()));
        AFT_CHECK(found->sizes() == computed.sizes(),
                  "{}: tensor '{}' has shape [{}], what operator {} gives is [{}]", request.in,
                  name, fmt::join(found->sizes().vec(), ", "), request.name,
                  fmt::join(computed.sizes().vec(), ", "));
        all.push_back(difference(found->to(at::kCPU, at::kDouble).contiguous(),
                                 computed.to(at::kDouble).contiguous(), name));
    }
    return all;
}

}  // namespace aft

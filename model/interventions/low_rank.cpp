// low-rank: the nearest w of a smaller rank (Eckart and Young 1936): its largest singular values.
// Of factors u r^T in O(T d'^2), from their QR decompositions, w as a whole; else by the singular
// values of the visible w, hidden cells as 0, in O(T^3). Kernels over pictures: of each head.
#include <ATen/ATen.h>

#include <algorithm>

#include "core/check.h"
#include "model/interventions/edits.h"
#include "model/mixers/factor_svd.h"

namespace aft {

InterventionRoom low_rank_intervention();

namespace {

at::Tensor of_factors(const at::Tensor& u, const at::Tensor& r, int64_t rank) {
    const FactorSvd all = svd_of_factors(u, r);
    const int64_t k = std::min(rank, all.values.size(0));
    const at::Tensor wide = all.left.slice(1, 0, k) * all.values.slice(0, 0, k);
    const at::Tensor tall = all.right.slice(1, 0, k).t();
    return at::matmul(wide.to(at::kFloat), tall.to(at::kFloat)).unsqueeze(0);
}

at::Tensor low_rank(const BiasEdit& edit) {
    const int64_t rank = edit.values.whole("rank");
    if (edit.u.defined()) return of_factors(edit.u, edit.r, rank);
    if (edit.w.dim() != 3)
        fail_usage("layer {} is {}: a kernel over a sequence has no rank", edit.layer,
                   edit.traits.words);
    const auto [left, values, right] = at::linalg_svd(of_inside(edit), false);
    const int64_t k = std::min(rank, values.size(-1));
    const at::Tensor wide = left.slice(2, 0, k) * values.slice(1, 0, k).unsqueeze(1);
    return at::matmul(wide, right.slice(1, 0, k));
}

}  // namespace

InterventionRoom low_rank_intervention() {
    return {{.info = {"low-rank", "Keeps the largest singular values of w."},
             .formula = "w = \u03A3 \u03C3\u1D62 a\u1D62 b\u1D62\u1D40 \u2192 its first terms",
             .options = {{.key = "rank",
                          .help = "How many singular values stay.",
                          .standard = "4",
                          .min = 0,
                          .max = 1 << 20}}},
            low_rank};
}

}  // namespace aft

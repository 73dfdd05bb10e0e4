#include "model/data/augment/mix.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "core/rng.h"

namespace aft {
namespace {

// Gamma(alpha, 1) (Marsaglia and Tsang 2000), alpha > 0.
double gamma_draw(CounterRng& rng, double alpha) {
    if (alpha < 1) {
        const double power = std::pow(1 - rng.uniform(), 1 / alpha);
        return gamma_draw(rng, alpha + 1) * power;
    }
    const double d = alpha - 1.0 / 3, c = 1 / std::sqrt(9 * d);
    for (;;) {
        const double x = rng.normal(), v = std::pow(1 + c * x, 3);
        if (v <= 0) continue;
        if (std::log(1 - rng.uniform()) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v;
    }
}

// Beta(alpha, alpha); one half where both draws vanish.
double beta_draw(CounterRng& rng, double alpha) {
    const double a = gamma_draw(rng, alpha), b = gamma_draw(rng, alpha);
    return a + b > 0 ? a / (a + b) : 0.5;
}

// A rectangle of a share 1 - kept of the area around a place drawn evenly, cut off at the edges.
// Swaps it between partners and returns the share that really stays.
double swap_part(const at::Tensor& pictures, double kept, CounterRng& rng) {
    const int64_t rows = pictures.size(2), columns = pictures.size(3);
    const double side = std::sqrt(1 - kept);
    const auto height = static_cast<int64_t>(static_cast<double>(rows) * side);
    const auto width = static_cast<int64_t>(static_cast<double>(columns) * side);
    const int64_t y = rng.below(rows), x = rng.below(columns);
    const int64_t top = std::max<int64_t>(0, y - height / 2);
    const int64_t left = std::max<int64_t>(0, x - width / 2);
    const int64_t bottom = std::min(rows, y - height / 2 + height);
    const int64_t right = std::min(columns, x - width / 2 + width);
    if (bottom <= top || right <= left) return 1;
    const at::Tensor part = pictures.slice(2, top, bottom).slice(3, left, right);
    part.copy_(part.flip(0));
    return 1 - static_cast<double>((bottom - top) * (right - left)) /
                   static_cast<double>(rows * columns);
}

}  // namespace

void mix_batch(Batch& batch, const MixRequest& request, ExampleKey key) {
    if (request.mixup <= 0 && request.cutmix <= 0) return;
    CounterRng rng(key.seed, streams::kMixing | key.number);
    const bool is_cut = request.mixup <= 0 || (request.cutmix > 0 && rng.uniform() < 0.5);
    double kept = beta_draw(rng, is_cut ? request.cutmix : request.mixup);
    if (is_cut)
        kept = swap_part(batch.input, kept, rng);
    else
        batch.input = batch.input.mul(kept).add_(batch.input.flip(0), 1 - kept);
    const at::Tensor own = at::one_hot(batch.target, request.classes).to(at::kFloat);
    batch.soft_target = own.mul(kept).add_(own.flip(0), 1 - kept);
    if (kept < 0.5) batch.target = batch.target.flip(0);
}

}  // namespace aft

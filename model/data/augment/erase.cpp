// Random erasing (Zhong et al. 2020, "Random erasing data augmentation", algorithm 1), the
// rectangle filled with N(0, 1) as DeiT does.
#include <ATen/ATen.h>

#include <cmath>

#include "core/check.h"
#include "core/rng.h"
#include "model/data/augment/augment.h"

namespace aft {

void random_erase(const at::Tensor& picture, double probability, ExampleKey key) {
    if (probability <= 0) return;
    AFT_ASSERT(picture.dim() == 3 && picture.scalar_type() == at::kFloat &&
               picture.is_contiguous());
    constexpr int kTries = 10;
    constexpr double kLeast = 0.02, kMost = 1.0 / 3, kFlattest = 0.3;
    CounterRng rng(key.seed, streams::kErasing | key.number);
    if (rng.uniform() >= probability) return;
    const int64_t channels = picture.size(0), rows = picture.size(1), columns = picture.size(2);
    for (int i = 0; i < kTries; ++i) {
        const double area =
            static_cast<double>(rows * columns) * (kLeast + (kMost - kLeast) * rng.uniform());
        const double ratio = std::exp(std::log(kFlattest) * (1 - 2 * rng.uniform()));
        const int64_t height = std::llround(std::sqrt(area * ratio));
        const int64_t width = std::llround(std::sqrt(area / ratio));
        if (height < 1 || width < 1 || height >= rows || width >= columns) continue;
        const int64_t y0 = rng.below(rows - height + 1), x0 = rng.below(columns - width + 1);
        float* const values = picture.data_ptr<float>();
        for (int64_t c = 0; c < channels; ++c)
            for (int64_t y = y0; y < y0 + height; ++y)
                for (int64_t x = x0; x < x0 + width; ++x)
                    values[(c * rows + y) * columns + x] = static_cast<float>(rng.normal());
        return;
    }
}

}  // namespace aft

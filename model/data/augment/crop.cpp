// Random resized crop (Szegedy et al. 2015, "Going deeper with convolutions", section 6), with the
// ranges that PyTorch's users know: area `smallest` to 1, ratio 3/4 to 4/3 on a logarithmic scale.
#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "core/rng.h"
#include "model/data/augment/augment.h"
#include "model/data/augment/resize.h"

namespace aft {
namespace {

constexpr double kNarrowest = 3.0 / 4, kWidest = 4.0 / 3;

PixelRectangle around_centre(const Image& image) {
    const auto width = static_cast<double>(image.width), height = static_cast<double>(image.height);
    PixelRectangle part{0, 0, image.width, image.height};
    if (width / height > kWidest) part.width = std::llround(height * kWidest);
    if (width / height < kNarrowest) part.height = std::llround(width / kNarrowest);
    part.width = std::clamp<int64_t>(part.width, 1, image.width);
    part.height = std::clamp<int64_t>(part.height, 1, image.height);
    part.x = (image.width - part.width) / 2;
    part.y = (image.height - part.height) / 2;
    return part;
}

PixelRectangle random_part(const Image& image, double smallest, ExampleKey key) {
    constexpr int kTries = 10;
    CounterRng rng(key.seed, streams::kCrop | key.number);
    const auto area = static_cast<double>(image.width * image.height);
    const double low = std::log(kNarrowest), high = std::log(kWidest);
    for (int i = 0; i < kTries; ++i) {
        const double wanted = area * (smallest + (1 - smallest) * rng.uniform());
        const double ratio = std::exp(low + (high - low) * rng.uniform());
        const int64_t width = std::llround(std::sqrt(wanted * ratio));
        const int64_t height = std::llround(std::sqrt(wanted / ratio));
        if (width < 1 || height < 1 || width > image.width || height > image.height) continue;
        const int64_t x = rng.below(image.width - width + 1);
        return {x, rng.below(image.height - height + 1), width, height};
    }
    return around_centre(image);
}

}  // namespace

Image random_resized_crop(const Image& image, const CropRequest& request, ExampleKey key) {
    AFT_ASSERT(request.smallest > 0 && request.smallest <= 1);
    return resize_part(image, random_part(image, request.smallest, key), request.width,
                       request.height);
}

}  // namespace aft

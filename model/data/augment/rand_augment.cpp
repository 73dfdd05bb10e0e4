// RandAugment (Cubuk et al. 2020, "RandAugment: practical automated data augmentation with a
// reduced search space", section 3): N operations drawn evenly from 14, one magnitude M for all. At
// M = 10: shear 0.3, shift 0.45 of the side, rotation 30 degrees, factors 1 +- 0.9, solarize from
// 0, posterize to 4 bits; signs are drawn; half of M is half of that. M = 0 is off altogether, as
// autocontrast and equalize know no strength.
#include <cmath>
#include <iterator>
#include <numbers>

#include "core/check.h"
#include "core/rng.h"
#include "model/data/augment/augment.h"
#include "model/data/augment/operations.h"

namespace aft {
namespace {

// strength: magnitude / 10, with a drawn sign where there are two directions.
using Operation = Image (*)(const Image& image, double strength);
struct Entry {
    bool is_signed = false;
    Operation run = nullptr;
};

double width_of(const Image& image) {
    return static_cast<double>(image.width);
}

double height_of(const Image& image) {
    return static_cast<double>(image.height);
}

Image rotated(const Image& image, double s) {
    const double angle = 30 * s * std::numbers::pi / 180;
    const double c = std::cos(angle), d = std::sin(angle);
    return transformed(image, {c, d, 0, -d, c, 0});
}

constexpr double kShear = 0.3, kMove = 0.45, kFactor = 0.9;
constexpr int kByteValues = 256, kBits = 8;

constexpr Entry kOperations[] = {
    {false, [](const Image& image, double) { return image; }},
    {false, [](const Image& image, double) { return auto_contrast(image); }},
    {false, [](const Image& image, double) { return equalized(image); }},
    {true, rotated},
    {false,
     [](const Image& image, double s) {
         return solarized(image, kByteValues - static_cast<int>(std::lround(kByteValues * s)));
     }},
    {true, [](const Image& image, double s) { return with_color(image, 1 + kFactor * s); }},
    {false,
     [](const Image& image, double s) {
         return posterized(image, kBits - static_cast<int>(std::lround(4 * s)));
     }},
    {true, [](const Image& image, double s) { return with_contrast(image, 1 + kFactor * s); }},
    {true, [](const Image& image, double s) { return with_brightness(image, 1 + kFactor * s); }},
    {true, [](const Image& image, double s) { return with_sharpness(image, 1 + kFactor * s); }},
    {true,
     [](const Image& image, double s) { return transformed(image, {1, kShear * s, 0, 0, 1, 0}); }},
    {true,
     [](const Image& image, double s) { return transformed(image, {1, 0, 0, kShear * s, 1, 0}); }},
    {true,
     [](const Image& image, double s) {
         return transformed(image, {1, 0, kMove * s * width_of(image), 0, 1, 0});
     }},
    {true,
     [](const Image& image, double s) {
         return transformed(image, {1, 0, 0, 0, 1, kMove * s * height_of(image)});
     }},
};

}  // namespace

Image rand_augment(const Image& image, const RandAugmentRequest& request, ExampleKey key) {
    AFT_ASSERT(request.magnitude >= 0 && request.magnitude <= 10);
    if (request.magnitude <= 0) return image;
    CounterRng rng(key.seed, streams::kRandAugment | key.number);
    Image out = image;
    for (int64_t i = 0; i < request.operations; ++i) {
        const Entry& entry = kOperations[rng.below(std::ssize(kOperations))];
        const double sign = entry.is_signed && rng.uniform() < 0.5 ? -1 : 1;
        out = entry.run(out, sign * request.magnitude / 10);
    }
    return out;
}

}  // namespace aft

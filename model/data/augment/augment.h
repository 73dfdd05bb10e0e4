// Augmentation of training pictures, one file a method. All are pure functions of their input and
// of (seed, number), number = the picture's place in the order of training (of a batch: the step);
// strength 0 changes nothing. Loader threads; no state.
#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/images/image.h"
#include "model/config.h"
#include "model/data/source.h"

namespace aft {

struct ExampleKey {
    uint64_t seed = 0, number = 0;
};

// Random streams, so that no method moves the draws of another. Order and offsets are 1 and 2.
namespace streams {
inline constexpr uint64_t kLevels = uint64_t{3} << 60, kCrop = uint64_t{4} << 60,
                          kRandAugment = uint64_t{5} << 60, kErasing = uint64_t{6} << 60,
                          kMixing = uint64_t{7} << 60;
}

// levels.cpp: changes levels in place.
enum class Augment { none, flip, recipe_a, recipe_c, shift };
[[nodiscard]] Augment parse_augment(const std::string& name);
void augment(Augment kind, const DataInfo& info, ExampleKey key, std::vector<uint8_t>& values);

// crop.cpp: random resized crop (Szegedy et al. 2015): a rectangle of `smallest` to all of the
// area, 3:4 to 4:3, resized to width x height. Where ten draws do not fit: the largest such
// rectangle around the centre.
struct CropRequest {
    int64_t width = 1, height = 1;
    double smallest = 0.08;
};
[[nodiscard]] Image random_resized_crop(const Image& image, const CropRequest& request,
                                        ExampleKey key);

// rand_augment.cpp: RandAugment (Cubuk et al. 2020): `operations` of 14, each equally likely, all
// of this magnitude (0 to 10). 8 bits a value, 1 or 3 channels.
struct RandAugmentRequest {
    int64_t operations = 2;
    double magnitude = 9;
};
[[nodiscard]] Image rand_augment(const Image& image, const RandAugmentRequest& request,
                                 ExampleKey key);

// erase.cpp: random erasing (Zhong et al. 2020): with this probability a rectangle of 2 % to a
// third of the area, 0.3 to 3.3 high by wide, becomes N(0, 1). picture: float [C, H, W],
// normalised, contiguous, on the processor; changed in place.
void random_erase(const at::Tensor& picture, double probability, ExampleKey key);

// augment.cpp: all that is on, of one training picture: crop, RandAugment, levels. None: it cannot
// be read.
struct Augmentation {
    Augment kind = Augment::none;
    AugmentStrengths strengths;  // resolved
};
[[nodiscard]] std::optional<Example> augmented_example(const DataSource& source,
                                                       const Augmentation& augmentation,
                                                       int64_t index, ExampleKey key);

}  // namespace aft

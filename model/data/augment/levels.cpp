// Augmentations of prepared pictures, as levels: flip, shift, and the paper's recipe for CIFAR-10.
#include <algorithm>

#include "core/check.h"
#include "core/rng.h"
#include "model/data/augment/augment.h"

namespace aft {
namespace {

// Copies pixels of each row to itself, mirrored left to right.
void flip(const DataInfo& info, std::vector<uint8_t>& values) {
    for (int64_t y = 0; y < info.height; ++y)
        for (int64_t x = 0; x < info.width / 2; ++x)
            for (int64_t c = 0; c < info.channels; ++c) {
                const int64_t row = y * info.width;
                std::swap(
                    values[static_cast<size_t>((row + x) * info.channels + c)],
                    values[static_cast<size_t>((row + info.width - 1 - x) * info.channels + c)]);
            }
}

void add_to_all(int64_t amount, const DataInfo& info, std::vector<uint8_t>& values) {
    for (uint8_t& v : values)
        v = static_cast<uint8_t>(std::clamp<int64_t>(v + amount, 0, info.levels - 1));
}

// Moves the picture; pixels that come in repeat the edge.
void shift(int64_t dy, int64_t dx, const DataInfo& info, std::vector<uint8_t>& values) {
    const std::vector<uint8_t> from = values;
    size_t out = 0;
    for (int64_t y = 0; y < info.height; ++y)
        for (int64_t x = 0; x < info.width; ++x) {
            const int64_t sy = std::clamp<int64_t>(y - dy, 0, info.height - 1);
            const int64_t sx = std::clamp<int64_t>(x - dx, 0, info.width - 1);
            for (int64_t c = 0; c < info.channels; ++c)
                values[out++] =
                    from[static_cast<size_t>((sy * info.width + sx) * info.channels + c)];
        }
}

}  // namespace

Augment parse_augment(const std::string& name) {
    if (name == "none") return Augment::none;
    if (name == "flip") return Augment::flip;
    if (name == "recipe-a") return Augment::recipe_a;
    if (name == "recipe-c") return Augment::recipe_c;
    if (name == "shift") return Augment::shift;
    fail_usage("data.augment is '{}'; allowed: none, flip, recipe-a, recipe-c, shift", name);
}

void augment(Augment kind, const DataInfo& info, ExampleKey key, std::vector<uint8_t>& values) {
    if (kind == Augment::none) return;
    CounterRng rng(key.seed, streams::kLevels | key.number);
    if (kind == Augment::shift) {
        const int64_t dy = rng.below(5) - 2, dx = rng.below(5) - 2;
        shift(dy, dx, info, values);
        return;
    }
    if (rng.uniform() < 0.5) flip(info, values);
    if (kind != Augment::recipe_a) return;
    // The paper's [-10, 10] is meant for 256 levels.
    const int64_t reach = (10 * info.levels + 128) / 256;
    add_to_all(rng.below(2 * reach + 1) - reach, info, values);
}

}  // namespace aft

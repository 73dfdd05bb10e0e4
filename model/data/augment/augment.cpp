#include "model/data/augment/augment.h"

namespace aft {
namespace {

// The picture at the model's size, its levels spread to 8 bits.
std::optional<WholePicture> prepared(const DataSource& source, int64_t index) {
    return source.DataSource::picture(Split::train, index);
}

}  // namespace

std::optional<Example> augmented_example(const DataSource& source, const Augmentation& augmentation,
                                         int64_t index, ExampleKey key) {
    const AugmentStrengths& strengths = augmentation.strengths;
    const DataInfo& info = source.info();
    std::optional<Example> example;
    if (strengths.crop <= 0 && strengths.rand_augment <= 0) {
        example = source.readable_example(Split::train, index);
    } else {
        auto picture =
            strengths.crop > 0 ? source.picture(Split::train, index) : prepared(source, index);
        if (!picture) return std::nullopt;
        Image image = std::move(picture->image);
        if (strengths.crop > 0)
            image = random_resized_crop(image, {info.width, info.height, strengths.crop}, key);
        if (strengths.rand_augment > 0)
            image = rand_augment(image, {strengths.rand_augment_ops, strengths.rand_augment}, key);
        if (info.levels < 256)
            for (uint8_t& v : image.pixels) v = static_cast<uint8_t>(v * info.levels / 256);
        example = Example{std::move(image.pixels), picture->label};
    }
    if (example) augment(augmentation.kind, info, key, example->values);
    return example;
}

}  // namespace aft

#include "model/data/batch.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "core/check.h"
#include "core/rng.h"

namespace aft {
namespace {

// Random streams of one seed: order of the examples, offsets of text windows, augmentation.
constexpr uint64_t kOrder = uint64_t{1} << 60, kOffset = uint64_t{2} << 60,
                   kAugment = uint64_t{3} << 60;

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

at::Tensor token_tensor(const std::vector<Example>& examples) {
    const auto rows = static_cast<int64_t>(examples.size());
    const auto length = static_cast<int64_t>(examples.front().values.size());
    at::Tensor tokens = at::empty({rows, length}, at::kLong);
    int64_t* out = tokens.mutable_data_ptr<int64_t>();
    for (const Example& example : examples)
        out = std::copy(example.values.begin(), example.values.end(), out);
    return tokens;
}

// [H, W, C] levels -> [B, C, H, W] in [-1, 1]
at::Tensor picture_tensor(const DataInfo& info, const std::vector<Example>& examples) {
    const auto rows = static_cast<int64_t>(examples.size());
    at::Tensor pictures = at::empty({rows, info.channels, info.height, info.width}, at::kFloat);
    float* out = pictures.mutable_data_ptr<float>();
    const float scale = 2.0F / static_cast<float>(info.levels - 1);
    for (const Example& example : examples)
        for (int64_t c = 0; c < info.channels; ++c)
            for (int64_t pixel = 0; pixel < info.height * info.width; ++pixel)
                *out++ = static_cast<float>(
                             example.values[static_cast<size_t>(pixel * info.channels + c)]) *
                             scale -
                         1.0F;
    return pictures;
}

Batch to_batch(const DataInfo& info, const ModelConfig& model,
               const std::vector<Example>& examples) {
    Batch batch;
    if (model.causal()) {
        batch.input = token_tensor(examples);
        batch.target = batch.input;
        return batch;
    }
    batch.input = picture_tensor(info, examples);
    batch.target = at::empty({static_cast<int64_t>(examples.size())}, at::kLong);
    int64_t* out = batch.target.mutable_data_ptr<int64_t>();
    for (const Example& example : examples) *out++ = example.label;
    return batch;
}

// Windows of one epoch of a text: as many as fit behind every offset below T.
int64_t epoch_windows(int64_t bytes, int64_t length) {
    return std::max<int64_t>(1, (bytes - length + 1) / length);
}

}  // namespace

int64_t permuted(uint64_t seed, uint64_t epoch, int64_t n, int64_t place) {
    AFT_ASSERT(place >= 0 && place < n);
    // A Feistel network is a bijection of [0, 4^half); walking its cycle stays one on [0, n).
    int half = 1;
    while ((uint64_t{1} << (2 * half)) < static_cast<uint64_t>(n)) ++half;
    const uint64_t mask = (uint64_t{1} << half) - 1;
    auto value = static_cast<uint64_t>(place);
    do {
        uint64_t left = value >> half, right = value & mask;
        for (uint64_t round = 0; round < 4; ++round) {
            const uint64_t mixed = philox(seed, kOrder | epoch, right << 2 | round)[0];
            left = std::exchange(right, left ^ (mixed & mask));
        }
        value = left << half | right;
    } while (value >= static_cast<uint64_t>(n));
    return static_cast<int64_t>(value);
}

Augment parse_augment(const std::string& name) {
    if (name == "none") return Augment::none;
    if (name == "flip") return Augment::flip;
    if (name == "recipe-a") return Augment::recipe_a;
    if (name == "shift") return Augment::shift;
    fail_usage("data.augment is '{}'; allowed: none, flip, recipe-a, shift", name);
}

void augment(Augment kind, const DataInfo& info, ExampleKey key, std::vector<uint8_t>& values) {
    if (kind == Augment::none) return;
    CounterRng rng(key.seed, kAugment | key.number);
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

BatchMaker::BatchMaker(std::shared_ptr<const DataSource> source, const LoaderOptions& options)
    : source_(std::move(source)),
      model_(options.model),
      augment_(parse_augment(options.data.augment)),
      batch_(options.batch),
      size_(0),
      window_(text_length(model_)),
      seed_(options.seed) {
    const DataConfig& data = options.data;
    check_fit(*source_, model_);
    const DataInfo& info = source_->info();
    if (info.is_text && augment_ != Augment::none)
        fail_usage("data.augment is '{}'; allowed for text: none", data.augment);
    const int64_t bytes = source_->text_size(Split::train);
    AFT_CHECK(!info.is_text || bytes >= window_,
              "data '{}': the training part has {} bytes, one window {}", data.source, bytes,
              window_);
    size_ = info.is_text ? epoch_windows(bytes, window_) : source_->size(Split::train);
    AFT_CHECK(size_ > 0, "data '{}': the training part is empty", data.source);
}

Example BatchMaker::training_example(uint64_t number) const {
    const uint64_t epoch = number / static_cast<uint64_t>(size_);
    const auto place = static_cast<int64_t>(number % static_cast<uint64_t>(size_));
    const int64_t index = permuted(seed_, epoch, size_, place);
    const DataInfo& info = source_->info();
    if (!info.is_text) {
        Example example = source_->example(Split::train, index);
        augment(augment_, info, {seed_, number}, example.values);
        return example;
    }
    const int64_t spare = source_->text_size(Split::train) - size_ * window_;
    CounterRng rng(seed_, kOffset | epoch);
    const int64_t offset = rng.below(std::min(spare + 1, window_));
    return source_->window(Split::train, offset + index * window_, window_);
}

Batch BatchMaker::make(int64_t step) const {
    std::vector<Example> examples;
    for (int64_t i = 0; i < batch_; ++i)
        examples.push_back(training_example(static_cast<uint64_t>(step * batch_ + i)));
    return to_batch(source_->info(), model_, examples);
}

Batch load_batch(const DataSource& source, const ModelConfig& model, const ExampleRange& slice) {
    AFT_ASSERT(slice.count > 0);
    const DataInfo& info = source.info();
    const int64_t length = text_length(model);
    std::vector<Example> examples;
    for (int64_t i = slice.first; i < slice.first + slice.count; ++i)
        examples.push_back(info.is_text ? source.window(slice.split, i * length, length)
                                        : source.example(slice.split, i));
    return to_batch(info, model, examples);
}

}  // namespace aft

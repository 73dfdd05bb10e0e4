#include "model/data/batch.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "core/check.h"
#include "core/rng.h"
#include "model/data/augment/mix.h"
#include "model/nn/input_norm.h"
#include "model/traits.h"

namespace aft {
namespace {

// Random streams of one seed: order of the examples and offsets of text windows. Those of
// augmentation: model/data/augment/augment.h.
constexpr uint64_t kOrder = uint64_t{1} << 60, kOffset = uint64_t{2} << 60;

at::Tensor token_tensor(const std::vector<Example>& examples) {
    const auto rows = static_cast<int64_t>(examples.size());
    const auto length = static_cast<int64_t>(examples.front().values.size());
    at::Tensor tokens = at::empty({rows, length}, at::kLong);
    int64_t* out = tokens.mutable_data_ptr<int64_t>();
    for (const Example& example : examples)
        out = std::copy(example.values.begin(), example.values.end(), out);
    return tokens;
}

// [H, W, C] levels -> [B, C, H, W], normalised as the model wants it
at::Tensor picture_tensor(const DataInfo& info, const ModelConfig& model,
                          const std::vector<Example>& examples) {
    const auto rows = static_cast<int64_t>(examples.size());
    at::Tensor pictures = at::empty({rows, info.channels, info.height, info.width}, at::kFloat);
    float* out = pictures.mutable_data_ptr<float>();
    const InputNorm norm = input_norm(model);
    for (const Example& example : examples)
        for (int64_t c = 0; c < info.channels; ++c) {
            const auto at = static_cast<size_t>(c);
            const float scale = 1 / norm.std[at] / static_cast<float>(info.levels - 1);
            const float offset = norm.mean[at] / norm.std[at];
            for (int64_t pixel = 0; pixel < info.height * info.width; ++pixel)
                *out++ = static_cast<float>(
                             example.values[static_cast<size_t>(pixel * info.channels + c)]) *
                             scale -
                         offset;
        }
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
    batch.input = picture_tensor(info, model, examples);
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

Batch slice(const Batch& batch, int64_t first, int64_t count) {
    Batch part{.input = batch.input.narrow(0, first, count),
               .target = batch.target.narrow(0, first, count)};
    if (batch.soft_target.defined()) part.soft_target = batch.soft_target.narrow(0, first, count);
    return part;
}

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

BatchMaker::BatchMaker(std::shared_ptr<const DataSource> source, const LoaderOptions& options)
    : source_(std::move(source)),
      model_(options.model),
      augmentation_{parse_augment(options.data.augment), options.data.resolved()},
      batch_(options.batch),
      first_(options.first),
      count_(options.count > 0 ? options.count : options.batch),
      size_(0),
      window_(text_length(model_)),
      seed_(options.seed) {
    const DataConfig& data = options.data;
    check_fit(*source_, model_);
    const DataInfo& info = source_->info();
    if (info.is_text && augmentation_.kind != Augment::none)
        fail_usage("data.augment is '{}'; allowed for text: none", data.augment);
    const int64_t bytes = source_->text_size(Split::train);
    AFT_CHECK(!info.is_text || bytes >= window_, "data '{}' {}", data.source,
              why_too_short(*source_, Split::train, window_));
    size_ = info.is_text ? epoch_windows(bytes, window_) : source_->size(Split::train);
    AFT_CHECK(size_ > 0, "data '{}': the training part is empty", data.source);
    source_->check_readable();
}

// What cannot be read gives way to the next one that can: the same at every start.
Example BatchMaker::training_picture(uint64_t number) const {
    const uint64_t taken = number / static_cast<uint64_t>(augmentation_.strengths.repeated);
    const uint64_t epoch = taken / static_cast<uint64_t>(size_);
    const auto place = static_cast<int64_t>(taken % static_cast<uint64_t>(size_));
    const int64_t first = permuted(seed_, epoch, size_, place);
    for (int64_t next = 0; next < size_; ++next) {
        const int64_t index = (first + next) % size_;
        if (auto example = augmented_example(*source_, augmentation_, index, {seed_, number}))
            return *std::move(example);
    }
    fail("none of the {} training pictures can be read", size_);
}

Example BatchMaker::training_text(uint64_t number) const {
    const uint64_t epoch = number / static_cast<uint64_t>(size_);
    const auto place = static_cast<int64_t>(number % static_cast<uint64_t>(size_));
    const int64_t index = permuted(seed_, epoch, size_, place);
    const int64_t spare = source_->text_size(Split::train) - size_ * window_;
    CounterRng rng(seed_, kOffset | epoch);
    const int64_t offset = rng.below(std::min(spare + 1, window_));
    return source_->window(Split::train, offset + index * window_, window_);
}

// Mixed pictures have their partners anywhere in the batch: then all of it is made.
Batch BatchMaker::make(int64_t step) const {
    const DataInfo& info = source_->info();
    const AugmentStrengths& strengths = augmentation_.strengths;
    const bool mixes =
        task_traits(model_).has_classes && (strengths.mixup > 0 || strengths.cutmix > 0);
    const int64_t first = mixes ? 0 : first_, count = mixes ? batch_ : count_;
    const auto number_of = [&](int64_t i) {
        return static_cast<uint64_t>(step * batch_ + first + i);
    };
    std::vector<Example> examples;
    for (int64_t i = 0; i < count; ++i)
        examples.push_back(info.is_text ? training_text(number_of(i))
                                        : training_picture(number_of(i)));
    Batch batch = to_batch(info, model_, examples);
    if (!task_traits(model_).has_classes) return batch;
    for (int64_t i = 0; i < count; ++i)
        random_erase(batch.input[i], strengths.erasing, {seed_, number_of(i)});
    mix_batch(batch, {strengths.mixup, strengths.cutmix, model_.outputs()},
              {seed_, static_cast<uint64_t>(step)});
    return mixes && count_ < batch_ ? slice(batch, first_, count_) : batch;
}

Batch load_batch(const DataSource& source, const ModelConfig& model, const ExampleRange& slice) {
    const ChosenExamples row{.count = slice.count, .first = slice.first};
    return load_batch(source, model, ChosenRange{row, slice.split, 0, slice.count});
}

Batch load_batch(const DataSource& source, const ModelConfig& model, const ChosenRange& slice) {
    AFT_ASSERT(slice.count > 0);
    const DataInfo& info = source.info();
    const int64_t length = text_length(model);
    std::vector<Example> examples;
    std::vector<int64_t> indices;
    for (int64_t place = slice.first; place < slice.first + slice.count; ++place) {
        const int64_t i = slice.chosen.index(place);
        auto example = info.is_text ? std::optional(source.window(slice.split, i * length, length))
                                    : source.readable_example(slice.split, i);
        if (!example) continue;
        examples.push_back(*std::move(example));
        indices.push_back(i);
    }
    Batch batch = examples.empty() ? Batch{} : to_batch(info, model, examples);
    batch.indices = std::move(indices);
    return batch;
}

}  // namespace aft

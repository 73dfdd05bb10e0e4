// How one batch comes about: order, augmentation, tensors. A function of (seed, step) alone. Any
// thread; no state that changes.
#pragma once
#include <memory>

#include "model/data/loader.h"

namespace aft {

// A permutation of [0, n) for each (seed, epoch), computed place by place without a table.
[[nodiscard]] int64_t permuted(uint64_t seed, uint64_t epoch, int64_t n, int64_t place);

enum class Augment { none, flip, recipe_a, shift };
[[nodiscard]] Augment parse_augment(const std::string& name);
// `number` identifies the example in the order of training; changes `values` in place.
void augment(Augment kind, const DataInfo& info, uint64_t seed, uint64_t number,
             std::vector<uint8_t>& values);

class BatchMaker {
  public:
    BatchMaker(std::shared_ptr<const DataSource> source, const ModelConfig& model,
               const DataConfig& data, int64_t batch, uint64_t seed);
    [[nodiscard]] Batch make(int64_t step) const;

  private:
    [[nodiscard]] Example training_example(uint64_t number) const;
    std::shared_ptr<const DataSource> source_;
    ModelConfig model_;
    Augment augment_;
    int64_t batch_, size_;
    uint64_t seed_;
};

}  // namespace aft

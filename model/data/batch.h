// How one batch comes about: order, augmentation, tensors. A function of (seed, step) alone. Any
// thread; no state that changes.
#pragma once
#include <memory>

#include "model/data/augment/augment.h"
#include "model/data/loader.h"

namespace aft {

// A permutation of [0, n) for each (seed, epoch), computed place by place without a table.
[[nodiscard]] int64_t permuted(uint64_t seed, uint64_t epoch, int64_t n, int64_t place);

class BatchMaker {
  public:
    BatchMaker(std::shared_ptr<const DataSource> source, const LoaderOptions& options);
    [[nodiscard]] Batch make(int64_t step) const;

  private:
    [[nodiscard]] Example training_picture(uint64_t number) const;
    [[nodiscard]] Example training_text(uint64_t number) const;
    std::shared_ptr<const DataSource> source_;
    ModelConfig model_;
    Augmentation augmentation_;
    int64_t batch_, first_, count_;  // examples of a batch; the part of them that is made
    int64_t size_, window_;          // examples of an epoch; bytes of a text window
    uint64_t seed_;
};

}  // namespace aft

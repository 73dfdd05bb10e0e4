// BucketLayout: which gradients travel together, and which part of each bucket is whose. The same
// on every rank. Trainer thread.
#pragma once
#include <ATen/core/Tensor.h>
#include <c10/core/Event.h>

#include <optional>
#include <vector>

#include "model/distributed/rank_group.h"
#include "model/distributed/shard.h"
#include "model/nn/parameters.h"

namespace aft {

struct Bucket {
    std::vector<size_t> parameters{};
    std::vector<int64_t> offsets{};      // of each in `values`
    std::vector<int64_t> counts{};       // of each rank's part
    int64_t count = 0;                   // of all
    at::Tensor values{};                 // float [count]: what is sent, then the sums
    at::Tensor parts{};                  // float [ranks, mine]: my part, of each rank
    size_t missing = 0;                  // gradients that are not there yet
    std::optional<c10::Event> filled{};  // of `values` on a GPU: behind the last gradient
};

// Values before the part of a rank.
[[nodiscard]] int64_t sum_before(const std::vector<int64_t>& counts, int rank);

class BucketLayout {
  public:
    BucketLayout(const RankGroup& group, const Parameters& parameters);
    void allocate(at::Device device);  // the memory of all buckets; before the first step
    [[nodiscard]] bool is_allocated() const { return buckets_.front().values.defined(); }
    // In the order in which the backward pass fills them.
    [[nodiscard]] std::vector<Bucket>& buckets() { return buckets_; }
    [[nodiscard]] Bucket& bucket_of(size_t parameter) { return buckets_[bucket_of_[parameter]]; }
    [[nodiscard]] at::Tensor slot(size_t parameter) const;  // its values in its bucket, flat
    [[nodiscard]] Shards shards(int rank) const;            // its part of each parameter
    [[nodiscard]] std::vector<int64_t> parts_of(size_t parameter) const;  // values of each rank

  private:
    void add_bucket(std::vector<size_t> which);
    const Parameters& parameters_;
    int rank_, ranks_;
    std::vector<Bucket> buckets_;
    std::vector<size_t> bucket_of_, slot_of_;  // of each parameter
};

}  // namespace aft

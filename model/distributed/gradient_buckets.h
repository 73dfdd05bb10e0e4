// GradientBuckets: the sum of all ranks' gradients, in buckets that travel while the backward pass
// still computes those of earlier layers (as PyTorch's DistributedDataParallel; Li et al. 2020).
//
// A bucket is cut into one part per rank, at multiples of kPiece values of a parameter. Every rank
// sends each part to its owner, which adds them up in the order of the ranks, as a binary tree;
// then the owners send their sums back. So the sum is the same whatever the network does, and 2 (n
// - 1) / n of the bytes are sent by each rank, the least there is. Where the optimizer state is
// sharded (ZeRO 1, Rajbhandari et al. 2020) the sums stay with the owners, who send the updated
// values instead.
//
// Trainer thread; a thread of its own talks to the group between begin() and finish(), nobody else
// may meanwhile.
#pragma once
#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

#include "model/distributed/bucket_sender.h"
#include "model/distributed/rank_group.h"
#include "model/distributed/shard.h"
#include "model/nn/parameters.h"

namespace aft {

class GradientBuckets {
  public:
    // The group and the parameters outlive it. Memory: gradients once or, without shards, twice.
    GradientBuckets(RankGroup& group, const Parameters& parameters, bool keeps_shards);
    ~GradientBuckets();

    // Before the last backward pass of a step. overlap: each bucket is sent as soon as its
    // gradients are there; right only where a backward pass gives every parameter its gradient at
    // once.
    void begin(bool overlap);
    // After it: blocks until all gradients are the sums (with shards: this rank's part of each).
    ReduceCost finish();
    // With shards: after the update, every rank gets all values.
    void share_values();
    // This rank's part of each parameter, of all where there are no shards.
    [[nodiscard]] const Shards& shards() const;
    // Floats of each rank of one parameter, in the order of the ranks.
    [[nodiscard]] std::vector<int64_t> parts_of(size_t parameter) const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace aft

#include "model/distributed/bucket_layout.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <utility>

namespace aft {
namespace {

// Of gradients that are ready at about one time: 1 MiB, with more than 8 ranks more, so that a
// message of 1/n of it stays worth its start.
constexpr int64_t kLeastBucketValues = 1 << 18;
constexpr int64_t kMessageValues = 1 << 15;

// Values of each piece of kPieceValues, parameter by parameter.
std::vector<int64_t> piece_counts(const Parameters& parameters, const std::vector<size_t>& which) {
    std::vector<int64_t> pieces;
    for (const size_t i : which)
        for (int64_t left = parameters[i].value.numel(); left > 0; left -= kPieceValues)
            pieces.push_back(std::min(kPieceValues, left));
    return pieces;
}

// Consecutive pieces for each rank, so that the largest part is about 1/ranks.
std::vector<int64_t> share_out(const std::vector<int64_t>& pieces, int64_t count, int ranks) {
    std::vector<int64_t> counts(static_cast<size_t>(ranks), 0);
    int64_t before = 0;
    for (const int64_t piece : pieces) {
        const int64_t middle = before + piece / 2;
        const auto owner =
            std::min<int64_t>(middle * ranks / std::max<int64_t>(count, 1), int64_t{ranks} - 1);
        counts[static_cast<size_t>(owner)] += piece;
        before += piece;
    }
    return counts;
}

// The part of [first, first + count) that lies inside [low, high).
Shard overlap_of(int64_t first, int64_t count, int64_t low, int64_t high) {
    const int64_t from = std::max(first, low), to = std::min(first + count, high);
    if (to <= from) return {};
    return {from - first, to - from};
}

}  // namespace

int64_t sum_before(const std::vector<int64_t>& counts, int rank) {
    int64_t sum = 0;
    for (int r = 0; r < rank; ++r) sum += counts[static_cast<size_t>(r)];
    return sum;
}

// From the head to the embedding, which is about the order of the backward pass.
BucketLayout::BucketLayout(const RankGroup& group, const Parameters& parameters)
    : parameters_(parameters),
      rank_(group.rank()),
      ranks_(group.size()),
      bucket_of_(parameters.size()),
      slot_of_(parameters.size()) {
    const int64_t most = std::max(kLeastBucketValues, kMessageValues * ranks_);
    std::vector<size_t> which;
    int64_t count = 0;
    for (size_t i = parameters.size(); i-- > 0;) {
        if (!parameters[i].value.requires_grad()) continue;
        const int64_t more = parameters[i].value.numel();
        if (count > 0 && count + more > most) {
            add_bucket(std::exchange(which, {}));
            count = 0;
        }
        which.push_back(i);
        count += more;
    }
    if (!which.empty()) add_bucket(std::move(which));
}

void BucketLayout::add_bucket(std::vector<size_t> which) {
    Bucket bucket;
    bucket.parameters = std::move(which);
    for (const size_t i : bucket.parameters) {
        bucket_of_[i] = buckets_.size();
        slot_of_[i] = bucket.offsets.size();
        bucket.offsets.push_back(bucket.count);
        bucket.count += parameters_[i].value.numel();
    }
    bucket.counts = share_out(piece_counts(parameters_, bucket.parameters), bucket.count, ranks_);
    buckets_.push_back(std::move(bucket));
}

void BucketLayout::allocate(at::Device device) {
    const at::TensorOptions options = at::TensorOptions().dtype(at::kFloat).device(device);
    for (Bucket& bucket : buckets_) {
        bucket.values = at::zeros({bucket.count}, options);
        bucket.parts = at::empty({ranks_, bucket.counts[static_cast<size_t>(rank_)]}, options);
    }
}

at::Tensor BucketLayout::slot(size_t parameter) const {
    const Bucket& bucket = buckets_[bucket_of_[parameter]];
    return bucket.values.narrow(0, bucket.offsets[slot_of_[parameter]],
                                parameters_[parameter].value.numel());
}

Shards BucketLayout::shards(int rank) const {
    Shards shards;
    for (const Parameter& parameter : parameters_) shards.push_back({0, parameter.value.numel()});
    for (const Bucket& bucket : buckets_) {
        const int64_t low = sum_before(bucket.counts, rank);
        const int64_t high = sum_before(bucket.counts, rank + 1);
        for (size_t slot = 0; slot < bucket.parameters.size(); ++slot) {
            const size_t i = bucket.parameters[slot];
            shards[i] = overlap_of(bucket.offsets[slot], shards[i].count, low, high);
        }
    }
    return shards;
}

std::vector<int64_t> BucketLayout::parts_of(size_t parameter) const {
    std::vector<int64_t> counts(static_cast<size_t>(ranks_), 0);
    if (!parameters_[parameter].value.requires_grad()) return counts;
    const Bucket& bucket = buckets_[bucket_of_[parameter]];
    const int64_t offset = bucket.offsets[slot_of_[parameter]];
    for (int r = 0; r < ranks_; ++r)
        counts[static_cast<size_t>(r)] =
            overlap_of(offset, parameters_[parameter].value.numel(), sum_before(bucket.counts, r),
                       sum_before(bucket.counts, r + 1))
                .count;
    return counts;
}

}  // namespace aft

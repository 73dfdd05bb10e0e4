// BucketSender: sums up buckets over all ranks, one after the other, on a thread of its own.
#pragma once
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

#include "model/distributed/bucket_layout.h"
#include "model/distributed/gpu_link.h"
#include "model/distributed/rank_group.h"

namespace aft {

// Of the gradients of one step.
struct ReduceCost {
    double send_ms = 0;      // of all buckets, one after the other
    double wait_ms = 0;      // of it after the backward pass had ended: not hidden behind it
    int64_t sent_bytes = 0;  // by this rank to others
};

class BucketSender {
  public:
    // keeps_shards: sums stay with the owner of each part.
    BucketSender(RankGroup& group, bool keeps_shards);
    // Buckets lie on GPUs from now on; before the first is pushed.
    void link(std::unique_ptr<GpuLink> between_gpus, at::Device device);
    void begin();               // a new step; nothing is under way
    void push(Bucket& bucket);  // its `values` are summed; the same order on all ranks
    // Blocks until as many buckets are summed; rethrows what went wrong.
    [[nodiscard]] ReduceCost wait(size_t buckets);
    void send_back(Bucket& bucket) const;  // my part of `values` to everyone, theirs to me

  private:
    void send(const std::stop_token& stop);
    void handle(Bucket& bucket) const;
    void sum_up(Bucket& bucket) const;
    void exchange(const RankGroup::RankBlocks& in, const RankGroup::RankBlocks& out) const;
    [[nodiscard]] int64_t sent_bytes(const Bucket& bucket) const;

    RankGroup& group_;
    bool keeps_shards_;
    struct Gpu {
        std::unique_ptr<GpuLink> link{};
        c10::Stream stream;  // of the thread, beside that of the backward pass
    };
    std::optional<Gpu> gpu_;
    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::deque<Bucket*> queue_;
    size_t summed_ = 0;
    ReduceCost cost_;
    std::exception_ptr error_;
    std::jthread thread_;  // last: it stops before the rest goes
};

}  // namespace aft

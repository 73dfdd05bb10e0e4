#include "model/distributed/bucket_sender.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <bit>
#include <chrono>
#include <utility>

#include "core/caught.h"
#include "core/clock.h"

namespace aft {
namespace {

// Rows [first, last) of x added up into row `first`, as a binary tree.
void add_tree(at::Tensor& x, int64_t first, int64_t last) {
    if (last - first < 2) return;
    const auto half = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(last - first - 1)));
    add_tree(x, first, first + half);
    add_tree(x, first + half, last);
    x[first].add_(x[first + half]);
}

}  // namespace

BucketSender::BucketSender(RankGroup& group, bool keeps_shards)
    : group_(group),
      keeps_shards_(keeps_shards),
      thread_([this](const std::stop_token& stop) { send(stop); }) {}

void BucketSender::link(std::unique_ptr<GpuLink> between_gpus, at::Device device) {
    const c10::impl::VirtualGuardImpl gpu(device.type());
    const c10::Stream stream = gpu.getStreamFromGlobalPool(device, /*isHighPriority=*/true);
    gpu_.emplace(Gpu{.link = std::move(between_gpus), .stream = stream});
}

void BucketSender::begin() {
    const std::lock_guard lock(mutex_);
    summed_ = 0;
    cost_ = {};
    error_ = {};
}

void BucketSender::push(Bucket& bucket) {
    if (gpu_) {  // behind what the backward pass has asked of the GPU
        const at::Device device = bucket.values.device();
        bucket.filled.emplace(device.type());
        bucket.filled->record(c10::impl::VirtualGuardImpl(device.type()).getStream(device));
    }
    const std::lock_guard lock(mutex_);
    queue_.push_back(&bucket);
    changed_.notify_all();
}

ReduceCost BucketSender::wait(size_t buckets) {
    const auto start = std::chrono::steady_clock::now();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return summed_ == buckets; });
    cost_.wait_ms = ms_since(start);
    if (error_) std::rethrow_exception(error_);
    return cost_;
}

void BucketSender::send(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, stop, [this] { return !queue_.empty(); })) {
        Bucket& bucket = *queue_.front();
        queue_.pop_front();
        lock.unlock();
        const auto start = std::chrono::steady_clock::now();
        const std::exception_ptr problem = caught([&] { handle(bucket); });
        lock.lock();
        cost_.send_ms += ms_since(start);
        cost_.sent_bytes += sent_bytes(bucket);
        if (problem) error_ = problem;
        ++summed_;
        changed_.notify_all();
    }
}

// On a GPU beside the backward pass; the thread has waited for all of it at the end.
void BucketSender::handle(Bucket& bucket) const {
    c10::OptionalStreamGuard guard;
    if (gpu_) guard.reset_stream(gpu_->stream);
    if (gpu_ && bucket.filled) bucket.filled->block(gpu_->stream);
    sum_up(bucket);
    if (!keeps_shards_) send_back(bucket);
    if (gpu_) gpu_->stream.synchronize();
}

void BucketSender::exchange(const RankGroup::RankBlocks& in,
                            const RankGroup::RankBlocks& out) const {
    group_.exchange(in, out, gpu_ ? gpu_->link.get() : nullptr);
}

void BucketSender::sum_up(Bucket& bucket) const {
    const c10::NoGradGuard no_grad;
    const auto me = static_cast<size_t>(group_.rank());
    const std::vector<int64_t> mine(static_cast<size_t>(group_.size()), bucket.counts[me]);
    exchange({bucket.counts, bucket.values.data_ptr<float>()},
             {mine, bucket.parts.data_ptr<float>()});
    add_tree(bucket.parts, 0, group_.size());
    bucket.values.narrow(0, sum_before(bucket.counts, group_.rank()), bucket.counts[me])
        .copy_(bucket.parts[0]);
}

// All but my part to their owners, and my part to the others.
int64_t BucketSender::sent_bytes(const Bucket& bucket) const {
    const int64_t mine = bucket.counts[static_cast<size_t>(group_.rank())];
    const int64_t back = (group_.size() - 1) * mine;  // of sums, or with shards of new values
    return (bucket.count - mine + back) * static_cast<int64_t>(sizeof(float));
}

void BucketSender::send_back(Bucket& bucket) const {
    const c10::NoGradGuard no_grad;
    const auto me = static_cast<size_t>(group_.rank());
    const int64_t first = sum_before(bucket.counts, group_.rank()), count = bucket.counts[me];
    bucket.parts.copy_(bucket.values.narrow(0, first, count).expand({group_.size(), count}));
    const std::vector<int64_t> mine(static_cast<size_t>(group_.size()), count);
    exchange({mine, bucket.parts.data_ptr<float>()},
             {bucket.counts, bucket.values.data_ptr<float>()});
}

}  // namespace aft

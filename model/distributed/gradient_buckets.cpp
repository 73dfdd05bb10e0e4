#include "model/distributed/gradient_buckets.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "core/caught.h"
#include "core/check.h"
#include "core/clock.h"

namespace aft {
namespace {

constexpr int64_t kBucketValues = 1 << 20;  // 4 MiB, of gradients that are ready at about one time

struct BucketPiece {
    size_t parameter = 0;
    int64_t first = 0, count = 0;
};

// Called when a gradient has been added up.
class GradientHook : public torch::autograd::FunctionPostHook {
  public:
    explicit GradientHook(std::function<void()> call) : call_(std::move(call)) {}
    torch::autograd::variable_list operator()(const torch::autograd::variable_list& outputs,
                                              const torch::autograd::variable_list&) override {
        call_();
        return outputs;
    }

  private:
    std::function<void()> call_;
};

std::vector<BucketPiece> bucket_pieces(const Parameters& parameters,
                                       const std::vector<size_t>& which) {
    std::vector<BucketPiece> pieces;
    for (const size_t i : which)
        for (int64_t first = 0; first < parameters[i].value.numel(); first += kPieceValues)
            pieces.push_back(
                {i, first, std::min(kPieceValues, parameters[i].value.numel() - first)});
    return pieces;
}

// Consecutive pieces for each rank, so that the largest part is about 1/ranks.
std::vector<int64_t> share_out(const std::vector<BucketPiece>& pieces, int64_t count, int ranks) {
    std::vector<int64_t> counts(static_cast<size_t>(ranks), 0);
    int64_t before = 0;
    for (const BucketPiece& piece : pieces) {
        const int64_t middle = before + piece.count / 2;
        const auto owner =
            std::min<int64_t>(middle * ranks / std::max<int64_t>(count, 1), int64_t{ranks} - 1);
        counts[static_cast<size_t>(owner)] += piece.count;
        before += piece.count;
    }
    return counts;
}

// Rows [first, last) of x added up into row `first`, as a binary tree.
void add_tree(at::Tensor& x, int64_t first, int64_t last) {
    if (last - first < 2) return;
    const auto half = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(last - first - 1)));
    add_tree(x, first, first + half);
    add_tree(x, first + half, last);
    x[first].add_(x[first + half]);
}

int64_t sum_before(const std::vector<int64_t>& counts, int rank) {
    int64_t sum = 0;
    for (int r = 0; r < rank; ++r) sum += counts[static_cast<size_t>(r)];
    return sum;
}

// The part of [first, first + count) that lies inside [low, high).
Shard overlap_of(int64_t first, int64_t count, int64_t low, int64_t high) {
    const int64_t from = std::max(first, low), to = std::min(first + count, high);
    if (to <= from) return {};
    return {from - first, to - from};
}

}  // namespace

struct GradientBuckets::Impl {
    struct Bucket {
        std::vector<size_t> parameters{};
        std::vector<int64_t> offsets{};  // of each in `values`
        std::vector<int64_t> counts{};   // of each rank's part
        int64_t count = 0;               // of all
        at::Tensor values{};             // float [count], on the CPU: what is sent, then the sums
        at::Tensor parts{};              // float [ranks, mine]: my part, of each rank
        size_t missing = 0;              // gradients that are not there yet
    };

    RankGroup& group;
    const Parameters& parameters;
    bool keeps_shards;
    std::vector<Bucket> buckets;             // in the order in which the backward pass fills them
    std::vector<size_t> bucket_of, slot_of;  // of each parameter
    std::vector<bool> is_there;              // its gradient is in its bucket
    Shards shards;
    std::vector<std::pair<std::shared_ptr<torch::autograd::Node>, uintptr_t>> accumulators;
    std::vector<bool> is_used;  // the loss depends on it on some rank; found out at the first step
    Cost cost{};
    size_t filled = 0;  // buckets handed over
    bool is_open = false;

    std::mutex mutex;
    std::condition_variable_any changed;
    std::deque<size_t> queue;  // buckets to sum up
    size_t summed = 0;
    std::exception_ptr error;
    std::jthread sender;  // last: it stops before the rest goes

    Impl(RankGroup& g, const Parameters& p, bool shards_kept)
        : group(g), parameters(p), keeps_shards(shards_kept) {}
    void lay_out();
    void add_bucket(std::vector<size_t> which);
    void find_shards();
    void add_hooks();
    void on_gradient(size_t parameter) {
        if (!is_open) return;
        take(parameter);
        hand_over();
    }
    void take(size_t parameter);
    void hand_over();
    void find_used();
    void send(const std::stop_token& stop);
    void sum_up(Bucket& bucket) const;
    [[nodiscard]] int64_t sent_bytes(const Bucket& bucket) const;
    void send_back(Bucket& bucket) const;
    [[nodiscard]] at::Tensor slot(size_t parameter) const {
        const Bucket& bucket = buckets[bucket_of[parameter]];
        return bucket.values.narrow(0, bucket.offsets[slot_of[parameter]],
                                    parameters[parameter].value.numel());
    }
};

// From the head to the embedding, which is about the order of the backward pass.
void GradientBuckets::Impl::lay_out() {
    bucket_of.resize(parameters.size());
    slot_of.resize(parameters.size());
    is_there.resize(parameters.size());
    std::vector<size_t> which;
    int64_t count = 0;
    for (size_t i = parameters.size(); i-- > 0;) {
        if (!parameters[i].value.requires_grad()) continue;
        const int64_t more = parameters[i].value.numel();
        if (count > 0 && count + more > kBucketValues) {
            add_bucket(std::exchange(which, {}));
            count = 0;
        }
        which.push_back(i);
        count += more;
    }
    if (!which.empty()) add_bucket(std::move(which));
}

void GradientBuckets::Impl::add_bucket(std::vector<size_t> which) {
    Bucket bucket;
    bucket.parameters = std::move(which);
    for (const size_t i : bucket.parameters) {
        bucket_of[i] = buckets.size();
        slot_of[i] = bucket.offsets.size();
        bucket.offsets.push_back(bucket.count);
        bucket.count += parameters[i].value.numel();
    }
    bucket.counts =
        share_out(bucket_pieces(parameters, bucket.parameters), bucket.count, group.size());
    bucket.values = at::zeros({bucket.count}, at::kFloat);
    bucket.parts =
        at::empty({group.size(), bucket.counts[static_cast<size_t>(group.rank())]}, at::kFloat);
    buckets.push_back(std::move(bucket));
}

void GradientBuckets::Impl::find_shards() {
    for (const Parameter& parameter : parameters) shards.push_back({0, parameter.value.numel()});
    if (!keeps_shards) return;
    for (const Bucket& bucket : buckets) {
        const int64_t low = sum_before(bucket.counts, group.rank());
        const int64_t high = sum_before(bucket.counts, group.rank() + 1);
        for (size_t slot = 0; slot < bucket.parameters.size(); ++slot) {
            const size_t i = bucket.parameters[slot];
            shards[i] = overlap_of(bucket.offsets[slot], parameters[i].value.numel(), low, high);
        }
    }
}

void GradientBuckets::Impl::add_hooks() {
    for (size_t i = 0; i < parameters.size(); ++i) {
        if (!parameters[i].value.requires_grad()) continue;
        auto node = torch::autograd::impl::grad_accumulator(parameters[i].value);
        const uintptr_t key =
            node->add_post_hook(std::make_unique<GradientHook>([this, i] { on_gradient(i); }));
        accumulators.emplace_back(std::move(node), key);
    }
}

// A gradient into its bucket; one that is not there counts as zeros.
void GradientBuckets::Impl::take(size_t parameter) {
    if (is_there[parameter]) return;
    const c10::NoGradGuard no_grad;
    const at::Tensor& grad = parameters[parameter].value.grad();
    if (grad.defined())
        slot(parameter).copy_(grad.reshape({-1}));
    else
        slot(parameter).zero_();
    is_there[parameter] = true;
    --buckets[bucket_of[parameter]].missing;
}

// In their order, whichever is full first: it has to be the same on all ranks.
void GradientBuckets::Impl::hand_over() {
    while (filled < buckets.size() && buckets[filled].missing == 0) {
        const std::lock_guard lock(mutex);
        queue.push_back(filled++);
        changed.notify_all();
    }
}

void GradientBuckets::Impl::send(const std::stop_token& stop) {
    std::unique_lock lock(mutex);
    while (changed.wait(lock, stop, [this] { return !queue.empty(); })) {
        Bucket& bucket = buckets[queue.front()];
        queue.pop_front();
        lock.unlock();
        const auto start = std::chrono::steady_clock::now();
        std::exception_ptr problem = caught([&] {
            sum_up(bucket);
            if (!keeps_shards) send_back(bucket);
        });
        lock.lock();
        cost.send_ms += ms_since(start);
        cost.sent_bytes += sent_bytes(bucket);
        if (problem) error = problem;
        ++summed;
        changed.notify_all();
    }
}

void GradientBuckets::Impl::sum_up(Bucket& bucket) const {
    const c10::NoGradGuard no_grad;
    const auto me = static_cast<size_t>(group.rank());
    const std::vector<int64_t> mine(static_cast<size_t>(group.size()), bucket.counts[me]);
    group.exchange({bucket.counts, bucket.values.data_ptr<float>()},
                   {mine, bucket.parts.data_ptr<float>()});
    add_tree(bucket.parts, 0, group.size());
    bucket.values.narrow(0, sum_before(bucket.counts, group.rank()), bucket.counts[me])
        .copy_(bucket.parts[0]);
}

// All but my part to their owners, and my part to the others.
int64_t GradientBuckets::Impl::sent_bytes(const Bucket& bucket) const {
    const int64_t mine = bucket.counts[static_cast<size_t>(group.rank())];
    const int64_t back = (group.size() - 1) * mine;  // of sums, or with shards of new values
    return (bucket.count - mine + back) * static_cast<int64_t>(sizeof(float));
}

// My part of `values` to everyone, theirs to me.
void GradientBuckets::Impl::send_back(Bucket& bucket) const {
    const c10::NoGradGuard no_grad;
    const auto me = static_cast<size_t>(group.rank());
    const int64_t first = sum_before(bucket.counts, group.rank()), count = bucket.counts[me];
    bucket.parts.copy_(bucket.values.narrow(0, first, count).expand({group.size(), count}));
    const std::vector<int64_t> mine(static_cast<size_t>(group.size()), count);
    group.exchange({mine, bucket.parts.data_ptr<float>()},
                   {bucket.counts, bucket.values.data_ptr<float>()});
}

// Every rank has to update the same parameters. A net uses the same ones at every step.
void GradientBuckets::Impl::find_used() {
    if (!is_used.empty()) return;
    std::string mine;
    for (const Parameter& parameter : parameters)
        mine += parameter.value.grad().defined() ? '1' : '0';
    is_used.resize(parameters.size());
    for (const std::string& theirs : group.gather(mine))
        for (size_t i = 0; i < parameters.size(); ++i)
            if (theirs.at(i) == '1') is_used[i] = true;
}

GradientBuckets::GradientBuckets(RankGroup& group, const Parameters& parameters, bool keeps_shards)
    : impl_(std::make_unique<Impl>(group, parameters, keeps_shards)) {
    impl_->lay_out();
    impl_->find_shards();
    impl_->add_hooks();
    impl_->sender =
        std::jthread([impl = impl_.get()](const std::stop_token& stop) { impl->send(stop); });
}

GradientBuckets::~GradientBuckets() {
    impl_->sender = {};
    for (const auto& [node, key] : impl_->accumulators) node->del_post_hook(key);
}

void GradientBuckets::begin(bool overlap) {
    Impl& p = *impl_;
    for (Impl::Bucket& bucket : p.buckets) bucket.missing = bucket.parameters.size();
    std::fill(p.is_there.begin(), p.is_there.end(), false);
    p.filled = 0;
    const std::lock_guard lock(p.mutex);
    p.summed = 0;
    p.cost = {};
    p.error = {};
    p.is_open = overlap;
}

void GradientBuckets::finish() {
    Impl& p = *impl_;
    p.is_open = false;
    for (const Impl::Bucket& bucket : p.buckets)
        for (const size_t i : bucket.parameters) p.take(i);
    p.hand_over();
    const auto start = std::chrono::steady_clock::now();
    {
        std::unique_lock lock(p.mutex);
        p.changed.wait(lock, [&p] { return p.summed == p.buckets.size(); });
        p.cost.wait_ms = ms_since(start);
        if (p.error) std::rethrow_exception(p.error);
    }
    p.find_used();
    const c10::NoGradGuard no_grad;
    for (size_t i = 0; i < p.parameters.size(); ++i) {
        const at::Tensor& value = p.parameters[i].value;
        if (!value.requires_grad()) continue;
        if (!p.is_used[i]) {
            value.mutable_grad().reset();
            continue;
        }
        if (!value.grad().defined()) value.mutable_grad() = at::zeros_like(value);
        value.grad().copy_(p.slot(i).view_as(value));
    }
}

void GradientBuckets::share_values() {
    Impl& p = *impl_;
    const c10::NoGradGuard no_grad;
    for (Impl::Bucket& bucket : p.buckets) {
        for (const size_t i : bucket.parameters)
            p.slot(i).copy_(p.parameters[i].value.detach().reshape({-1}));
        p.send_back(bucket);
        for (const size_t i : bucket.parameters)
            p.parameters[i].value.copy_(p.slot(i).view_as(p.parameters[i].value));
    }
}

GradientBuckets::Cost GradientBuckets::cost() const {
    return impl_->cost;
}

const Shards& GradientBuckets::shards() const {
    return impl_->shards;
}

std::vector<int64_t> GradientBuckets::parts_of(size_t parameter) const {
    const Impl& p = *impl_;
    const int ranks = p.group.size();
    std::vector<int64_t> counts(static_cast<size_t>(ranks), 0);
    const int64_t numel = p.parameters[parameter].value.numel();
    if (!p.parameters[parameter].value.requires_grad()) return counts;
    const Impl::Bucket& bucket = p.buckets[p.bucket_of[parameter]];
    const int64_t offset = bucket.offsets[p.slot_of[parameter]];
    for (int r = 0; r < ranks; ++r)
        counts[static_cast<size_t>(r)] = overlap_of(offset, numel, sum_before(bucket.counts, r),
                                                    sum_before(bucket.counts, r + 1))
                                             .count;
    return counts;
}

}  // namespace aft

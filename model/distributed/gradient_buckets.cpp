#include "model/distributed/gradient_buckets.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

namespace aft {
namespace {

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

}  // namespace

struct GradientBuckets::Impl {
    RankGroup& group;
    const Parameters& parameters;
    BucketLayout layout;
    Shards shards;
    std::vector<bool> is_there;  // of each parameter: its gradient is in its bucket
    std::vector<bool> is_used;   // the loss depends on it on some rank; found out at the first step
    size_t filled = 0;           // buckets handed over
    bool is_open = false;
    std::vector<std::pair<std::shared_ptr<torch::autograd::Node>, uintptr_t>> hooks;
    BucketSender sender;

    Impl(RankGroup& g, const Parameters& p, bool keeps_shards)
        : group(g), parameters(p), layout(g, p), is_there(p.size()), sender(g, keeps_shards) {
        if (keeps_shards)
            shards = layout.shards(g.rank());
        else
            for (const Parameter& parameter : p) shards.push_back({0, parameter.value.numel()});
    }
    void add_hooks();
    void open();
    void take(size_t parameter);
    void hand_over();
    void find_used();
};

void GradientBuckets::Impl::add_hooks() {
    for (size_t i = 0; i < parameters.size(); ++i) {
        if (!parameters[i].value.requires_grad()) continue;
        auto node = torch::autograd::impl::grad_accumulator(parameters[i].value);
        const uintptr_t key = node->add_post_hook(std::make_unique<GradientHook>([this, i] {
            if (!is_open) return;
            take(i);
            hand_over();
        }));
        hooks.emplace_back(std::move(node), key);
    }
}

// Where buckets lie is found out with the other ranks, when all have their trainer.
void GradientBuckets::Impl::open() {
    if (layout.buckets().empty() || layout.is_allocated()) return;
    const at::Device device = parameters.front().value.device();
    std::unique_ptr<GpuLink> link = link_gpus(group, device);
    layout.allocate(link ? device : at::kCPU);
    if (link) sender.link(std::move(link), device);
}

// A gradient into its bucket; one that is not there counts as zeros.
void GradientBuckets::Impl::take(size_t parameter) {
    if (is_there[parameter]) return;
    const c10::NoGradGuard no_grad;
    const at::Tensor& grad = parameters[parameter].value.grad();
    if (grad.defined())
        layout.slot(parameter).copy_(grad.reshape({-1}));
    else
        layout.slot(parameter).zero_();
    is_there[parameter] = true;
    --layout.bucket_of(parameter).missing;
}

// In their order, whichever is full first: it has to be the same on all ranks.
void GradientBuckets::Impl::hand_over() {
    std::vector<Bucket>& buckets = layout.buckets();
    while (filled < buckets.size() && buckets[filled].missing == 0) sender.push(buckets[filled++]);
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
    impl_->add_hooks();
}

GradientBuckets::~GradientBuckets() {
    for (const auto& [node, key] : impl_->hooks) node->del_post_hook(key);
}

void GradientBuckets::begin(bool overlap) {
    Impl& p = *impl_;
    p.open();
    for (Bucket& bucket : p.layout.buckets()) bucket.missing = bucket.parameters.size();
    std::fill(p.is_there.begin(), p.is_there.end(), false);
    p.filled = 0;
    p.sender.begin();
    p.is_open = overlap;
}

ReduceCost GradientBuckets::finish() {
    Impl& p = *impl_;
    p.is_open = false;
    for (const Bucket& bucket : p.layout.buckets())
        for (const size_t i : bucket.parameters) p.take(i);
    p.hand_over();
    const ReduceCost cost = p.sender.wait(p.layout.buckets().size());
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
        value.grad().copy_(p.layout.slot(i).view_as(value));
    }
    return cost;
}

void GradientBuckets::share_values() {
    Impl& p = *impl_;
    const c10::NoGradGuard no_grad;
    for (Bucket& bucket : p.layout.buckets()) {
        for (const size_t i : bucket.parameters)
            p.layout.slot(i).copy_(p.parameters[i].value.detach().reshape({-1}));
        p.sender.send_back(bucket);
        for (const size_t i : bucket.parameters)
            p.parameters[i].value.copy_(p.layout.slot(i).view_as(p.parameters[i].value));
    }
}

const Shards& GradientBuckets::shards() const {
    return impl_->shards;
}

std::vector<int64_t> GradientBuckets::parts_of(size_t parameter) const {
    return impl_->layout.parts_of(parameter);
}

}  // namespace aft

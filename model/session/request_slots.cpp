#include "model/session/request_slots.h"

#include <algorithm>
#include <utility>

namespace aft::session {
namespace {

constexpr std::chrono::milliseconds kStill{300};  // several frames: asked for in the same look
constexpr std::chrono::seconds kUnasked{1};       // nobody looks at it any more

}  // namespace

void RequestSlots::ask(const ProbeRequest& request, bool is_wanted, Clock::time_point now) {
    if (!is_wanted) return drop(request);
    std::optional<ProbeOrder> unasked;
    {
        const std::lock_guard lock(mutex_);
        if (now > asking_.last + kStill) asking_.since = now;
        asking_.last = now;
        if (is_computing(request)) {
            computing_->asked = now;
            return;
        }
        unasked = take_unasked(now - kUnasked);
        const auto slot = std::find_if(probes_.begin(), probes_.end(), [&](const auto& waiting) {
            const ProbeRequest& of = waiting.request;
            return of.probe == request.probe && of.layer == request.layer &&
                   of.recipe.is_untouched() == request.recipe.is_untouched();
        });
        if (slot != probes_.end()) {
            *slot = {request, now};
        } else {
            probes_.push_back({request, now});
        }
    }
    if (unasked) unasked->stop.request_stop();
    changed_.notify_all();
}

void RequestSlots::drop(const ProbeRequest& request) {
    std::optional<ProbeOrder> running;
    {
        const std::lock_guard lock(mutex_);
        std::erase_if(probes_, [&](const Waiting& one) { return one.request == request; });
        if (is_computing(request)) running = take_computing();
    }
    if (running) running->stop.request_stop();
}

bool RequestSlots::is_computing(const ProbeRequest& request) const {
    return computing_ && computing_->order.request == request;
}

// The one that is computed. It may be asked for again at once, while the worker ends.
ProbeOrder RequestSlots::take_computing() {
    ProbeOrder order = std::move(computing_->order);
    computing_.reset();
    return order;
}

// The one that is computed, if it was not asked for since then although others were all the time.
std::optional<ProbeOrder> RequestSlots::take_unasked(Clock::time_point since) {
    if (!computing_ || std::max(computing_->asked, asking_.since) > since) return std::nullopt;
    return take_computing();
}

void RequestSlots::ask(const ItemKey& item) {
    constexpr size_t kMost = 64;
    {
        const std::lock_guard lock(mutex_);
        if (std::find(items_.begin(), items_.end(), item) != items_.end()) return;
        items_.push_back(item);
        if (items_.size() > kMost) items_.pop_front();
    }
    changed_.notify_all();
}

uint64_t RequestSlots::complete(CompletionRequest request, Clock::time_point now) {
    std::stop_source before;
    std::optional<ProbeOrder> unasked;
    uint64_t id = 0;
    {
        const std::lock_guard lock(mutex_);
        before = running_;
        if (computing_ && computing_->asked + kStill < now) unasked = take_computing();
        id = ++last_id_;
        waiting_ = CompletionOrder{std::move(request), id, std::stop_source()};
    }
    before.request_stop();
    if (unasked) unasked->stop.request_stop();
    changed_.notify_all();
    return id;
}

void RequestSlots::stop_completion() {
    std::stop_source running;
    {
        const std::lock_guard lock(mutex_);
        running = running_;
        waiting_.reset();
    }
    running.request_stop();
}

bool RequestSlots::wait(const std::stop_token& stop, std::optional<Clock::time_point> until) {
    std::unique_lock lock(mutex_);
    const auto ready = [&] { return !probes_.empty() || !items_.empty() || waiting_; };
    if (until) return changed_.wait_until(lock, stop, *until, ready);
    return changed_.wait(lock, stop, ready);
}

std::optional<ProbeOrder> RequestSlots::next_probe(bool still_asked, Clock::time_point now) {
    const std::lock_guard lock(mutex_);
    computing_.reset();
    if (probes_.empty()) return std::nullopt;
    const auto by_time = [](const Waiting& a, const Waiting& b) { return a.asked < b.asked; };
    const auto newest = std::ranges::max_element(probes_, by_time)->asked;
    if (still_asked && newest + kUnasked < now) return std::nullopt;
    const auto next = std::ranges::find_if(
        probes_, [&](const Waiting& one) { return one.asked + kStill >= newest; });
    computing_ = {.order = {.request = std::move(next->request), .stop = {}}, .asked = next->asked};
    probes_.erase(next);
    return computing_->order;
}

std::optional<ItemKey> RequestSlots::next_item() {
    const std::lock_guard lock(mutex_);
    if (items_.empty()) return std::nullopt;
    ItemKey item = std::move(items_.front());
    items_.pop_front();
    return item;
}

std::optional<CompletionOrder> RequestSlots::next_completion() {
    const std::lock_guard lock(mutex_);
    if (!waiting_) return std::nullopt;
    CompletionOrder order = std::move(*waiting_);
    waiting_.reset();
    running_ = order.stop;
    is_drawing_ = true;
    return order;
}

void RequestSlots::end_completion() {
    const std::lock_guard lock(mutex_);
    is_drawing_ = false;
}

bool RequestSlots::is_completing(uint64_t id) {
    const std::lock_guard lock(mutex_);
    return (is_drawing_ || waiting_) && (id == 0 || id == last_id_);
}

}  // namespace aft::session

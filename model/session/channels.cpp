#include "model/session/channels.h"

#include <algorithm>
#include <cstdlib>

#include "core/nearest_step.h"

namespace aft::session {

void CommandQueue::push(Command command) {
    {
        const std::lock_guard lock(mutex_);
        commands_.push_back(std::move(command));
    }
    changed_.notify_all();
}

void CommandQueue::yield_until(Clock::time_point until) {
    const std::lock_guard lock(mutex_);
    yield_until_ = std::max(yield_until_, until);
}

void CommandQueue::set_share(double share) {
    const std::lock_guard lock(mutex_);
    share_ = std::clamp(share, 0.1, 1.0);
}

std::vector<Command> CommandQueue::take() {
    const std::lock_guard lock(mutex_);
    std::vector<Command> out(std::make_move_iterator(commands_.begin()),
                             std::make_move_iterator(commands_.end()));
    commands_.clear();
    return out;
}

Clock::time_point CommandQueue::yielding() const {
    const std::lock_guard lock(mutex_);
    return yield_until_;
}

double CommandQueue::share() const {
    const std::lock_guard lock(mutex_);
    return share_;
}

bool CommandQueue::wait(const std::stop_token& stop, std::optional<Clock::time_point> until) {
    std::unique_lock lock(mutex_);
    const auto ready = [&] { return !commands_.empty(); };
    if (until) return changed_.wait_until(lock, stop, *until, ready);
    return changed_.wait(lock, stop, ready);
}

bool SessionChannels::holds(const ProbeRequest& request, const ProbeAnswer& answer) const {
    const auto now = snapshot.latest();
    if (now && answer.stamp == now->stamp) return true;
    const auto stored = stored_steps.latest();
    if (request.step < 0 || !answer.fields || answer.stamp < stored->valid_since) return false;
    if (answer.fields->fields.empty()) return true;
    // A checkpoint that was saved since may be nearer than the one that was taken.
    const int64_t nearest = nearest_step(stored->saved, request.step);
    const int64_t taken = answer.fields->fields.front().step;
    return nearest <= answer.newest_saved ||
           std::abs(nearest - request.step) >= std::abs(taken - request.step);
}

}  // namespace aft::session

#include "app/frame/unsaved_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/check.h"

namespace aft::app {

namespace {

// Every change of the state is published; the count is read first, so none is missed.
Status status_after_stopping(const Session& session, const Publications& published) {
    for (;;) {
        const uint64_t seen = published.count();
        Status status = session.status();
        if (status.state != RunState::stopping) return status;
        published.wait_after(seen);
    }
}

}  // namespace

void Publications::add() {
    {
        const std::lock_guard lock(mutex_);
        ++count_;
    }
    changed_.notify_all();
}

uint64_t Publications::count() const {
    const std::lock_guard lock(mutex_);
    return count_;
}

void Publications::wait_after(uint64_t seen) const {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::milliseconds(100), [&] { return count_ > seen; });
}

std::string UnsavedSteps::what() const {
    const int64_t first = std::max<int64_t>(saved_step, 0) + 1;
    const std::string steps = first == step ? fmt::format("step {} is", step)
                                            : fmt::format("steps {} to {} are", first, step);
    const std::string saved =
        saved_step < 0 ? "none is" : fmt::format("the newest saved step is {}", saved_step);
    return fmt::format("{}: {} not saved ({})", run, steps, saved);
}

std::optional<UnsavedSteps> save_before_end(Session& session, const Publications& published) {
    Status status = session.status();
    const RunState state = status.state;
    // Ready, too: a start may be on its way.
    const bool can_owe = state == RunState::ready || state == RunState::running ||
                         state == RunState::paused || state == RunState::stopping;
    if (!can_owe || status.following || !status.can_train) return std::nullopt;
    session.run().stop();
    status = status_after_stopping(session, published);
    // What fails leaves it paused.
    if (status.state != RunState::paused || status.step <= std::max<int64_t>(status.saved_step, 0))
        return std::nullopt;
    return UnsavedSteps{.run = status.path,
                        .reason = status.error,
                        .saved_step = status.saved_step,
                        .step = status.step};
}

void fail_if_unsaved(const std::vector<UnsavedSteps>& unsaved) {
    std::string words;
    for (const UnsavedSteps& one : unsaved) {
        if (!words.empty()) words += "\n";
        words += one.what() + ": " + one.reason;
    }
    if (!words.empty()) fail("{}", words);
}

}  // namespace aft::app

#include "app/frame/losses.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "core/check.h"

namespace aft::app {

std::string Loss::what() const {
    const int64_t first = std::max<int64_t>(saved_step, 0) + 1;
    const std::string steps = first == step ? fmt::format("step {} is", step)
                                            : fmt::format("steps {} to {} are", first, step);
    const std::string saved =
        saved_step < 0 ? "none is" : fmt::format("the newest saved step is {}", saved_step);
    return fmt::format("{}: {} not saved ({})", run, steps, saved);
}

std::optional<Loss> save_before_end(Session& session) {
    Status status = session.status();
    const RunState state = status.state;
    // Ready, too: a start may be on its way.
    const bool can_owe = state == RunState::ready || state == RunState::running ||
                         state == RunState::paused || state == RunState::stopping;
    if (!can_owe || status.following || !status.can_train) return std::nullopt;
    session.stop();
    for (status = session.status(); status.state == RunState::stopping; status = session.status())
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    // What fails leaves it paused.
    if (status.state != RunState::paused || status.step <= std::max<int64_t>(status.saved_step, 0))
        return std::nullopt;
    return Loss{.run = status.path,
                .reason = status.error,
                .saved_step = status.saved_step,
                .step = status.step};
}

void fail_if_lost(const std::vector<Loss>& losses) {
    std::string words;
    for (const Loss& loss : losses) {
        if (!words.empty()) words += "\n";
        words += loss.what() + ": " + loss.reason;
    }
    if (!words.empty()) fail("{}", words);
}

void LossBox::put(Loss loss) {
    const std::lock_guard lock(mutex_);
    losses_.push_back(std::move(loss));
}

std::vector<Loss> LossBox::take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(losses_, {});
}

}  // namespace aft::app

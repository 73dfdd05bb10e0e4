// OpenSession and RetiringSession: a session with the count of what it publishes, and one that is
// saved and ended by a thread of its own. Window thread.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <thread>

#include "app/frame/unsaved_steps.h"

namespace aft::app {

struct OpenSession {
    std::unique_ptr<Session> session;
    std::shared_ptr<Publications> published;
};
// Blocks. What it could not save, if so.
[[nodiscard]] std::optional<UnsavedSteps> save_before_end(const OpenSession& open);

class RetiringSession {
  public:
    // `wake` is called when there is something in the box.
    RetiringSession(OpenSession open, std::shared_ptr<UnsavedStepsBox> unsaved,
                    std::function<void()> wake);
    [[nodiscard]] bool has_ended() const { return has_ended_; }  // joining does not block then

  private:
    std::atomic<bool> has_ended_{false};
    std::jthread thread_;
};

}  // namespace aft::app

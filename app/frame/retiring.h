// OpenSession and RetiringSession: a session with the count of what it publishes, and one that is
// saved and ended by a thread of its own. Window thread.
#pragma once
#include <functional>
#include <memory>
#include <thread>

#include "app/frame/unsaved_steps.h"
#include "core/mailbox.h"

namespace aft::app {

struct OpenSession {
    std::unique_ptr<Session> session;
    std::shared_ptr<Publications> published;
};
// Blocks. What it could not save, if so.
[[nodiscard]] std::optional<UnsavedSteps> save_before_end(const OpenSession& open);

struct SessionEnd {
    std::optional<UnsavedSteps> unsaved;
};

class RetiringSession {
  public:
    // `wake` is called at the end of a session with unsaved steps.
    RetiringSession(OpenSession open, std::function<void()> wake);
    // nullptr: not yet. Then the destructor blocks.
    [[nodiscard]] std::shared_ptr<const SessionEnd> end() const { return end_.latest(); }
    void wait() { thread_.join(); }  // blocks until end(); once

  private:
    Mailbox<SessionEnd> end_;
    std::jthread thread_;
};

}  // namespace aft::app

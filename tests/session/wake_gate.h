// A gate at which the threads of a session wait with what they have published, for tests that must
// not miss a moment of it. Tests only.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>

#include "tests/session/session_fixture.h"

namespace aft {

// Holds the threads of a session in its wake(), so that a slow test misses nothing of what they
// publish. Open at first.
class WakeGate {
  public:
    // The wake() of a session: stays here while the gate is closed, until look() lets it pass.
    void wake() {
        std::unique_lock lock(mutex_);
        const uint64_t mine = ++arrived_;
        lock.unlock();
        wakes().count();  // who looks now finds it at the gate
        lock.lock();
        changed_.wait(lock, [&] { return !is_closed_ || mine <= passed_; });
    }
    // Returns done(). If false, lets those pass that came before: a thread that comes with what is
    // looked for stays.
    bool look(const std::function<bool()>& done) {
        uint64_t before = 0;
        {
            const std::lock_guard lock(mutex_);
            before = arrived_;
        }
        if (done()) return true;
        {
            const std::lock_guard lock(mutex_);
            passed_ = before;
        }
        changed_.notify_all();
        return false;
    }
    void set_closed(bool is_closed) {
        {
            const std::lock_guard lock(mutex_);
            is_closed_ = is_closed;
        }
        changed_.notify_all();
    }

    // Closes it; opens it at the end of the scope, before the session ends.
    class Closed {
      public:
        explicit Closed(WakeGate& gate) : gate_(gate) { gate_.set_closed(true); }
        ~Closed() { gate_.set_closed(false); }
        Closed(const Closed&) = delete;
        Closed& operator=(const Closed&) = delete;

      private:
        WakeGate& gate_;
    };

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    uint64_t arrived_ = 0, passed_ = 0;
    bool is_closed_ = false;
};

// Starts a completion and leaves the worker in its middle, behind a closed gate that is the
// session's wake(): at the answer to a probe that it has served between two tokens. False: it
// answered none. Asks for "symmetry" of layers 0 and 1, which must not be cached.
[[nodiscard]] inline bool hold_in_completion(const Session& session, WakeGate& gate,
                                             const std::function<void()>& start) {
    const auto is_answered = [&](int64_t layer) {
        return wait_for([&] {
            return gate.look(
                [&] { return session.probes().ask(probe("symmetry", layer), false) != nullptr; });
        });
    };
    // The worker has begun nothing else when both wait for it.
    if (!is_answered(0)) return false;
    static_cast<void>(session.probes().ask(probe("symmetry", 1), false));
    start();
    return session.completions().is_busy() && is_answered(1);
}

}  // namespace aft

// What the tests of the session and of the window share: a tiny run, waiting for a state with a
// limit.
#pragma once
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <utility>

#include "model/session.h"
#include "tests/core/scratch.h"
#include "tests/session/run_requests.h"

namespace aft {

// Limit of a wait for something that must come, reached only where it never comes. Generous,
// because machines may be slow and sanitizers are.
inline constexpr double kHangSeconds = 180;

// How often a session of this program has said that something new can be shown.
class Wakes {
  public:
    void count() {
        {
            const std::lock_guard lock(mutex_);
            ++count_;
        }
        changed_.notify_all();
    }
    [[nodiscard]] uint64_t seen() {
        const std::lock_guard lock(mutex_);
        return count_;
    }
    // Returns once there were more than `seen`, or `limit` is over.
    void wait_beyond(uint64_t seen, std::chrono::steady_clock::duration limit) {
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, limit, [&] { return count_ != seen; });
    }
    // Until `done` is true, looked at after each wake, or `limit` is over.
    bool wait(const std::function<bool()>& done, std::chrono::steady_clock::duration limit) {
        const auto end = std::chrono::steady_clock::now() + limit;
        while (true) {
            std::unique_lock lock(mutex_);
            const uint64_t seen = count_;
            lock.unlock();
            if (done()) return true;
            lock.lock();
            if (!changed_.wait_until(lock, end, [&] { return count_ != seen; })) break;
        }
        return done();
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    uint64_t count_ = 0;
};
inline Wakes& wakes() {
    static Wakes all;
    return all;
}

// A session that wakes wait_for().
class TestSession : public Session {
  public:
    explicit TestSession(OpenRequest request)
        : Session(std::move(request), [] { wakes().count(); }) {}
};

// Looks after each wake of a session; the limit is also met where something changes without one.
[[nodiscard]] inline bool wait_for(const std::function<bool()>& done,
                                   double seconds = kHangSeconds) {
    return wakes().wait(done, std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                  std::chrono::duration<double>(seconds)));
}

// The next wake, or so long: what a random test puts between two commands.
inline void wait_a_little(int64_t milliseconds) {
    bool is_first = true;
    static_cast<void>(wakes().wait([&] { return !std::exchange(is_first, false); },
                                   std::chrono::milliseconds(milliseconds)));
}

[[nodiscard]] inline bool wait_state(const Session& session, RunState state) {
    const bool there = wait_for([&] { return session.status().state == state; });
    if (!there)
        ADD_FAILURE() << "state is " << state_name(session.status().state) << ": "
                      << session.status().error << " " << session.status().message;
    return there;
}

[[nodiscard]] inline bool wait_step(const Session& session, int64_t step) {
    return wait_for([&] { return session.status().step >= step; });
}

// Trains up to this step and pauses there.
[[nodiscard]] inline bool train_to(Session& session, int64_t step) {
    session.run().step(step - session.status().step);
    return wait_step(session, step) && wait_state(session, RunState::paused);
}

// Asks as a panel does, frame after frame, until the answer or the error is there.
[[nodiscard]] inline FieldSetPtr answer(Session& session, const ProbeRequest& request,
                                        std::string* error = nullptr, bool stale_ok = true) {
    FieldSetPtr fields;
    std::string words;
    static_cast<void>(wait_for([&] {
        fields = session.probes().ask(request, stale_ok, &words);
        return fields != nullptr || !words.empty();
    }));
    if (error) *error = words;
    return fields;
}

// A column written anew, as `change` says of its values.
inline void rewrite(NumberColumn& column, const std::function<void(std::vector<double>&)>& change) {
    std::vector<double> values(column.begin(), column.end());
    change(values);
    column = {};
    for (const double value : values) column.push_back(value);
}

// Without NaN, so that answers can be compared.
inline ProbeRequest probe(const std::string& name, int64_t layer = 0) {
    ProbeRequest request;
    request.probe = name;
    request.layer = layer;
    if (name == "bias") request.options["visible"] = "all";
    return request;
}

}  // namespace aft

// UnsavedSteps: steps of a session that ends and that could not be saved, and the words for them.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "model/session.h"

namespace aft::app {

struct UnsavedSteps {
    std::string run, reason;             // run folder; why they could not be saved
    int64_t saved_step = -1, step = -1;  // the newest saved one (-1 = none), the last trained one
    [[nodiscard]] std::string what() const;  // "runs/a: steps 501 to 540 are not saved (...)"
    [[nodiscard]] bool is_same(const UnsavedSteps& other) const {  // the reason may differ
        return run == other.run && saved_step == other.saved_step && step == other.step;
    }
};

// Counts what a session has published. Any thread.
class Publications {
  public:
    void add();
    [[nodiscard]] uint64_t count() const;
    // Blocks until there are more than `seen`, a tenth of a second at most.
    void wait_after(uint64_t seen) const;

  private:
    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    uint64_t count_ = 0;
};

// Halts the session and has it save. Blocks: at most one step and a save. nullopt: all is saved.
[[nodiscard]] std::optional<UnsavedSteps> save_before_end(Session& session,
                                                          const Publications& published);

// Throws an Error with a line for each, if there are any.
void fail_if_unsaved(const std::vector<UnsavedSteps>& unsaved);

}  // namespace aft::app

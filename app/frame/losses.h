// Losses: steps of a session that ends and that could not be saved. The words for them, and the box
// in which sessions that end in the background leave theirs for the window.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "model/session.h"

namespace aft::app {

struct Loss {
    std::string run, reason;             // run folder; why it could not be saved
    int64_t saved_step = -1, step = -1;  // the newest saved one (-1 = none), the last trained one
    [[nodiscard]] std::string what() const;  // "runs/a: steps 501 to 540 are not saved (...)"
    [[nodiscard]] bool is_same(const Loss& other) const {  // the reason may differ
        return run == other.run && saved_step == other.saved_step && step == other.step;
    }
};

// Halts the session and has it save. Blocks: at most one step and a save. nullopt: nothing is lost.
[[nodiscard]] std::optional<Loss> save_before_end(Session& session);

// Throws an Error with a line for each, if there are any.
void fail_if_lost(const std::vector<Loss>& losses);

class LossBox {  // any thread
  public:
    void put(Loss loss);
    [[nodiscard]] std::vector<Loss> take();  // those that came since the last call

  private:
    std::mutex mutex_;
    std::vector<Loss> losses_;
};

}  // namespace aft::app

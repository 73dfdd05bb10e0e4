// RequestSlots: what the window asks of the worker: probes, items and one completion. Any thread;
// the lock is held for a few copies, never while computing.
#pragma once
#include <chrono>
#include <condition_variable>
#include <list>
#include <mutex>
#include <optional>
#include <stop_token>

#include "model/completion.h"
#include "model/requests.h"
#include "model/session/item_cache.h"

namespace aft::session {

using Clock = std::chrono::steady_clock;

struct ProbeOrder {
    ProbeRequest request;
    std::stop_source stop;
};

struct CompletionOrder {
    CompletionRequest request;
    uint64_t id = 0;
    std::stop_source stop;
};

// Newest wins within a slot: one slot per (probe, layer, with a recipe or without), a short list of
// items, one completion. In the order in which they were first asked for; but what is still asked
// for, by a visible pane in each of its frames, comes before what is not any more. A probe that
// nobody has asked for while others did for a second is stopped: it is computed when it is asked
// for again. A completion stops it at once.
class RequestSlots {
  public:
    // Window thread.
    // Not wanted: it leaves its slot, or is asked to stop where it is being computed.
    void ask(const ProbeRequest& request, bool is_wanted = true,
             Clock::time_point now = Clock::now());
    void ask(const ItemKey& item);
    // Stops the running one.
    uint64_t complete(CompletionRequest request, Clock::time_point now = Clock::now());
    void stop_completion();
    [[nodiscard]] bool is_completing(uint64_t id = 0);  // one waits or is drawn; this, if id > 0
    // Worker thread. next_*: nothing there = nullopt; what is handed out counts as being computed
    // until the next call.
    // False: nothing came until then; no time = for ever.
    bool wait(const std::stop_token& stop, std::optional<Clock::time_point> until);
    // still_asked: only what was asked for in the last second.
    [[nodiscard]] std::optional<ProbeOrder> next_probe(bool still_asked = false,
                                                       Clock::time_point now = Clock::now());
    [[nodiscard]] std::optional<ItemKey> next_item();
    [[nodiscard]] std::optional<CompletionOrder> next_completion();
    void end_completion();  // of the one that was handed out

  private:
    struct Waiting {
        ProbeRequest request;
        Clock::time_point asked;  // last
    };
    struct Computing {
        ProbeOrder order;
        Clock::time_point asked;  // last
    };
    struct Asking {  // an unbroken row of questions
        Clock::time_point since, last;
    };
    void drop(const ProbeRequest& request);
    [[nodiscard]] bool is_computing(const ProbeRequest& request) const;
    ProbeOrder take_computing();
    std::optional<ProbeOrder> take_unasked(Clock::time_point since);
    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::list<Waiting> probes_;
    std::list<ItemKey> items_;
    std::optional<Computing> computing_;
    Asking asking_;
    std::optional<CompletionOrder> waiting_;
    std::stop_source running_;
    bool is_drawing_ = false;
    uint64_t last_id_ = 0;
};

}  // namespace aft::session

// All that crosses the threads of a session: the command queue (window -> trainer), the request
// slots (window -> worker), the mailboxes (latest wins) and the caches of answers. Inside
// model/session alone. Any thread; every lock is held for a few copies, never while computing.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/mailbox.h"
#include "model/completion.h"
#include "model/metrics.h"
#include "model/requests.h"
#include "model/session.h"
#include "model/session/item_cache.h"
#include "model/session/probe_cache.h"
#include "model/session/request_slots.h"
#include "model/status.h"
#include "model/train/snapshot.h"

namespace aft::session {

enum class CommandKind {
    start,
    pause,
    step,
    run_until,
    stop,
    save,
    save_copy,
    rewind,
    set,
    note,
    keep
};

struct Command {
    CommandKind kind = CommandKind::start;
    int64_t number = 0;
    std::string key, text;
};

class CommandQueue {
  public:
    void push(Command command);
    void yield_until(Clock::time_point until);
    void set_share(double share);
    [[nodiscard]] std::vector<Command> take();  // returns at once
    [[nodiscard]] Clock::time_point yielding() const;
    [[nodiscard]] double share() const;
    // Blocks until there is a command, the time has come or stop is requested. True: a command.
    bool wait(const std::stop_token& stop, std::optional<Clock::time_point> until);

  private:
    mutable std::mutex mutex_;
    std::condition_variable_any changed_;
    std::deque<Command> commands_;
    Clock::time_point yield_until_{};
    double share_ = 1;
};

struct Message {
    std::string text;
    Clock::time_point time;
};

// Where the stored steps of a run are: read by the worker for steps of the past.
struct StoredSteps {
    std::string run;  // run folder, empty = none
    std::vector<int64_t> steps;
    std::vector<int64_t> saved;  // those with whole weights; the others keep biases only
    uint64_t valid_since = 0;    // answers from snapshots before this stamp no longer hold
};

struct SessionChannels {
    std::function<void()> wake;
    int all_threads = 1;      // of LibTorch, as the program was started
    std::stop_source ending;  // asked when the session ends: data that are being listed are left
    CommandQueue commands;
    std::atomic<int64_t> stops_asked{0}, stops_answered{0};
    RequestSlots slots;
    ProbeCache cache{size_t{512} << 20};
    ItemCache items;
    Mailbox<Status> status;  // the trainer's part
    Mailbox<Message> worker_message;
    Mailbox<Snapshot> snapshot;
    Mailbox<Curves> curves;
    Mailbox<StoredSteps> stored_steps;
    Mailbox<Completion> completion;
    AnswersMissed missed;  // window thread alone

    // The published status may be from before the last stop().
    [[nodiscard]] bool is_stop_waiting() const { return stops_answered < stops_asked; }
    // Of the newest weights, or of a stored step that is still the run's and the nearest one.
    [[nodiscard]] bool holds(const ProbeRequest& request, const ProbeAnswer& answer) const;
};

// The two threads, from start to end.
void run_trainer(const std::stop_token& stop, SessionChannels& channels,
                 const OpenRequest& request);
void run_worker(const std::stop_token& stop, SessionChannels& channels, const std::string& device);
// LibTorch's threads of the calling thread alone.
void use_threads(int count);

}  // namespace aft::session

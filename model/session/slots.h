// What stands between the window and the two threads of a session: the command queue (window ->
// trainer), the request slots (window -> worker) and the cache of answers. Any thread; every lock
// is held for a few copies, never while computing. Plain types only.
#pragma once
#include <chrono>
#include <condition_variable>
#include <deque>
#include <list>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/session.h"

namespace aft::session {

using Clock = std::chrono::steady_clock;

struct Command {
    enum class Kind { start, pause, step, run_until, stop, save, rewind, set, note };
    Kind kind = Kind::start;
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

// A picture of the run's data ("validation", 3), or a file ("file", path).
struct ItemKey {
    std::string split, path;
    int64_t index = 0;
    [[nodiscard]] bool operator==(const ItemKey&) const = default;
    [[nodiscard]] std::string text() const;
};

struct CompletionOrder {
    CompletionRequest request;
    uint64_t id = 0;
    std::stop_source stop;
};

// Newest wins within a slot: one slot per (probe, layer), a short list of items, one completion.
class RequestSlots {
  public:
    // Window thread.
    void ask(const ProbeRequest& request);
    void ask(const ItemKey& item);
    uint64_t complete(CompletionRequest request);  // stops the running one
    void stop_completion();
    // Worker thread. next_*: nothing there = nullopt; what is handed out counts as being computed
    // until the next call.
    // False: nothing came until then; no time = for ever.
    bool wait(const std::stop_token& stop, std::optional<Clock::time_point> until);
    [[nodiscard]] std::optional<ProbeRequest> next_probe();
    [[nodiscard]] std::optional<ItemKey> next_item();
    [[nodiscard]] std::optional<CompletionOrder> next_completion();

  private:
    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::list<ProbeRequest> probes_;
    std::list<ItemKey> items_;
    std::optional<ProbeRequest> computing_;
    std::optional<CompletionOrder> waiting_;
    std::stop_source running_;
    uint64_t last_id_ = 0;
};

struct ProbeAnswer {
    FieldSetPtr fields;  // nullptr: it failed
    std::string error;
    uint64_t stamp = 0;  // of the newest snapshot when it was asked
};

// Least recently used out when over the limit of bytes.
class ProbeCache {
  public:
    explicit ProbeCache(size_t limit_bytes) : limit_(limit_bytes) {}
    void put(const ProbeRequest& request, ProbeAnswer answer);
    [[nodiscard]] std::optional<ProbeAnswer> find(const ProbeRequest& request);
    [[nodiscard]] size_t bytes() const;

  private:
    struct Entry {
        ProbeRequest request;
        ProbeAnswer answer;
        size_t bytes = 0;
    };
    using Order = std::list<Entry>;
    [[nodiscard]] Order::iterator locate(size_t hash, const ProbeRequest& request);
    void drop(Order::iterator entry);

    mutable std::mutex mutex_;
    Order order_;  // newest use first
    std::unordered_multimap<size_t, Order::iterator> index_;
    size_t limit_, bytes_ = 0;
};

}  // namespace aft::session

// What the three threads of a session share: mailboxes (latest wins), the command queue, request
// slots and the cache. Inside model/session*.cpp only.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/mailbox.h"
#include "core/system/omp_team.h"
#include "model/session/slots.h"
#include "model/train/snapshot.h"

namespace aft::session {

struct Message {
    std::string text;
    Clock::time_point time;
};

// Where stored moments lie: read by the worker for steps of the past.
struct Moments {
    std::string run;  // run folder, empty = none
    std::vector<int64_t> steps;
    uint64_t valid_since = 0;    // answers from snapshots before this stamp no longer hold
    std::vector<int64_t> saved;  // those with whole weights; the others keep biases only
};

// Pictures and texts that panels asked for. One slot a key; nothing is loaded twice.
class ItemShelf {
  public:
    struct Entry {
        std::shared_ptr<const DataItem> item;  // nullptr: it failed
        ItemError error;                       // then: why
    };
    // What was begun before the last clear() comes too late.
    [[nodiscard]] uint64_t age() const {
        const std::lock_guard lock(mutex_);
        return age_;
    }
    void put(const ItemKey& key, Entry entry, uint64_t begun) {
        const std::lock_guard lock(mutex_);
        if (begun != age_) return;
        if (entries_.size() > kMost) entries_.clear();
        entries_[key.text()] = std::move(entry);
    }
    void clear() {
        const std::lock_guard lock(mutex_);
        entries_.clear();
        ++age_;
    }
    [[nodiscard]] std::optional<Entry> find(const ItemKey& key) const {
        const std::lock_guard lock(mutex_);
        const auto found = entries_.find(key.text());
        return found == entries_.end() ? std::nullopt : std::optional(found->second);
    }

  private:
    static constexpr size_t kMost = 256;
    mutable std::mutex mutex_;
    std::unordered_map<std::string, Entry> entries_;
    uint64_t age_ = 0;
};

struct Shared {
    std::function<void()> wake;
    int all_threads = 1;  // of LibTorch, as the program was started
    CommandQueue commands;
    std::atomic<int64_t> stops_asked{0}, stops_answered{0};
    RequestSlots slots;
    ProbeCache cache{size_t{512} << 20};
    ItemShelf items;
    Mailbox<Status> status;  // the trainer's part
    Mailbox<Message> worker_message;
    Mailbox<Snapshot> snapshot;
    Mailbox<Curves> curves;
    Mailbox<Moments> moments;
    Mailbox<Completion> completion;

    // The published status may be from before the last stop().
    [[nodiscard]] bool is_stop_waiting() const { return stops_answered < stops_asked; }
    // An answer of the newest weights, or of a stored moment that is still the run's.
    [[nodiscard]] bool holds(const ProbeRequest& request, const ProbeAnswer& answer) const {
        const auto now = snapshot.latest();
        if (now && answer.stamp == now->stamp) return true;
        return request.step >= 0 && answer.fields && answer.stamp >= moments.latest()->valid_since;
    }
};

// LibTorch threads of the calling thread alone.
void use_threads(int count);

void run_trainer(const std::stop_token& stop, Shared& shared, const OpenRequest& request);
void run_worker(const std::stop_token& stop, Shared& shared, const std::string& device);

}  // namespace aft::session

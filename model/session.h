// Session: the window's door to one live model: a run that trains, or a model that is open. Plain
// types only. Owns two threads: the trainer (model, optimiser, data) and the worker (probes,
// completions, on its own copy). Window thread. Every method RETURNS AT ONCE: commands go into a
// queue, answers are read from mailboxes. The destructor stops both threads: blocks at most one
// step and one token.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/field.h"
#include "model/completion.h"
#include "model/data_item.h"
#include "model/metrics.h"
#include "model/requests.h"
#include "model/status.h"

namespace aft {

class Session {
  public:
    // wake: called from other threads when something new can be shown; must return at once.
    explicit Session(
        OpenRequest request, std::function<void()> wake = [] {});
    ~Session();

    void start();
    void pause();
    void step(int64_t n);
    void run_until(int64_t target_step);
    void stop();
    void save();
    void rewind(int64_t step);  // to a saved step; what came after is kept in Status::branch
    void set(const std::string& key, const std::string& value);
    void note(const std::string& text);
    void yield_for_ms(
        int64_t ms);  // "smooth while I interact": the trainer waits between steps until then
    void set_share(double share);  // trainer's part of the time, 0.1 .. 1

    [[nodiscard]] Status status() const;
    [[nodiscard]] std::shared_ptr<const Curves> curves() const;
    [[nodiscard]] std::vector<int64_t> history_steps() const;  // moments a probe's `step` names
    [[nodiscard]] std::vector<int64_t> saved_steps()
        const;  // those that can complete: whole weights

    // nullptr = not there yet (it has been asked for, newest wins within its probe and layer).
    // `error` gets the words if it failed. `stale` answers (an older step of the same request) may
    // be had with stale_ok.
    [[nodiscard]] FieldSetPtr ask(const ProbeRequest& request, bool stale_ok = true,
                                  std::string* error = nullptr);

    uint64_t complete(CompletionRequest request);  // replaces a running one; the id of the new one
    void stop_completion();                        // between tokens
    [[nodiscard]] std::shared_ptr<const Completion> completion() const;
    // Distribution over levels at a position of the last completion: via ask("predictions").

    // A picture or window of text, as tokens; loads in the worker, nullptr until it is there.
    [[nodiscard]] std::shared_ptr<const DataItem> data_item(const std::string& split, int64_t index,
                                                            ItemError* error = nullptr);
    // A picture file, cropped and resized to the model. Needs no data.
    [[nodiscard]] std::shared_ptr<const DataItem> image_item(const std::string& path,
                                                             ItemError* error = nullptr);
    // Forgets all of these, failures too: they are read again when asked for. A model that was
    // opened and not yet trained takes its data from elsewhere by set("data.source", SPEC).
    void reload_items();

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace aft

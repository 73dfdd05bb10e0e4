// Session: the window's interface to one live model: a run that trains, or a model that is open.
// Plain types only. Owns two threads: the trainer (model, optimiser, data) and the worker (probes,
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

namespace session {
struct SessionChannels;
}

// Commands to the run. What became of one is in the status.
class RunCommands {
  public:
    explicit RunCommands(session::SessionChannels& channels) : channels_(channels) {}
    void start();
    void pause();
    void step(int64_t n);
    void run_until(int64_t target_step);
    void stop();
    // `copy`: a new file outside the run; what became of it says Status::copy with this ticket.
    void save(const std::string& copy = {}, int64_t ticket = 0);
    void rewind(int64_t step);  // to a saved step; what came after is kept in Status::branch
    void set(const std::string& key, const std::string& value);  // a setting
    void note(const std::string& text);
    void keep(int64_t step);  // this checkpoint stays for good; nothing where it is not saved

  private:
    session::SessionChannels& channels_;
};

// How much of the time the trainer leaves to the window.
class TrainingPace {
  public:
    explicit TrainingPace(session::SessionChannels& channels) : channels_(channels) {}
    // "smooth while I interact": the trainer waits between steps until then.
    void yield_for_ms(int64_t ms);
    void set_share(double share);  // trainer's part of the time, 0.1 .. 1

  private:
    session::SessionChannels& channels_;
};

struct AnswersKept {
    size_t bytes = 0, limit = 0;
};

// How often ask() had no answer to a request since the start: of a step that it names, and of the
// newest weights.
struct AnswersMissed {
    int64_t of_steps = 0, of_newest = 0;
};

// What probes (model/probe) answer.
class ProbeAnswers {
  public:
    explicit ProbeAnswers(session::SessionChannels& channels) : channels_(channels) {}
    // nullptr = not there yet (it has been asked for, newest wins within its probe and layer).
    // `error` gets the words if it failed. Answers of an older step of the same request may be had
    // with stale_ok.
    [[nodiscard]] FieldSetPtr ask(const ProbeRequest& request, bool stale_ok = true,
                                  std::string* error = nullptr);
    // Ends what was asked for: taken out of the line, or stopped between two parts of it (layers,
    // targets, steps), without an answer. Who asks again gets a new one.
    void cancel(const ProbeRequest& request);
    // What the answers take that are kept, so that scrubbing back computes nothing again; beyond
    // the limit the least recently used go first.
    [[nodiscard]] AnswersKept kept() const;
    // A frame in which it stays the same shows what was asked for.
    [[nodiscard]] AnswersMissed missed() const;

  private:
    session::SessionChannels& channels_;
};

// One completion at a time. Distribution over levels at one of its positions: probe "predictions".
class Completions {
  public:
    explicit Completions(session::SessionChannels& channels) : channels_(channels) {}
    uint64_t start(CompletionRequest request);  // replaces a running one; the id of the new one
    void stop();                                // between tokens
    [[nodiscard]] std::shared_ptr<const Completion> latest() const;  // nullptr before the first
    [[nodiscard]] bool is_busy(uint64_t id = 0) const;  // one waits or is drawn; this, if id > 0

  private:
    session::SessionChannels& channels_;
};

// Inputs as tokens: pictures or windows of text. nullptr = not there yet, or `error` has the words.
class DataItems {
  public:
    explicit DataItems(session::SessionChannels& channels) : channels_(channels) {}
    // An example of the model's data.
    [[nodiscard]] std::shared_ptr<const DataItem> example(const std::string& split, int64_t index,
                                                          ItemError* error = nullptr);
    // A picture file, cropped and resized to the model. Needs no data.
    [[nodiscard]] std::shared_ptr<const DataItem> picture(const std::string& path,
                                                          ItemError* error = nullptr);
    // Forgets all of these, failures too: they are read again when asked for. A model that was
    // opened and not yet trained takes its data from elsewhere by set("data.source", SPEC).
    void reload();

  private:
    [[nodiscard]] std::shared_ptr<const DataItem> find(const std::string& split,
                                                       const std::string& path, int64_t index,
                                                       ItemError* error);
    session::SessionChannels& channels_;
};

class Session {
  public:
    // wake: called from other threads when something new can be shown; must return at once.
    explicit Session(OpenRequest request, std::function<void()> wake = [] {});
    ~Session();

    [[nodiscard]] Status status() const;
    [[nodiscard]] std::shared_ptr<const Curves> curves() const;
    [[nodiscard]] std::vector<int64_t> history_steps() const;  // steps that a probe can show
    // Those that can complete: whole weights.
    [[nodiscard]] std::vector<int64_t> saved_steps() const;

    [[nodiscard]] RunCommands run();
    [[nodiscard]] TrainingPace pace();
    // Reading and asking leave the run as it is: a const session has them, and no commands.
    [[nodiscard]] ProbeAnswers probes() const;
    [[nodiscard]] DataItems items() const;
    [[nodiscard]] Completions completions();
    [[nodiscard]] const Completions completions() const;  // latest() and is_busy() alone

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace aft

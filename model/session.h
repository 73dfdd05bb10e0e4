// Session: the window's door to one live model: a run that trains, or a model that is open. Plain
// types only. Owns two threads: the trainer (model, optimiser, data) and the worker (probes,
// completions, on its own copy). Window thread. Every method RETURNS AT ONCE: commands go into a
// queue, answers are read from mailboxes. The destructor stops both threads: blocks at most one
// step and one token.
#pragma once
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/field.h"
#include "core/settings.h"
#include "model/config.h"
#include "model/metrics.h"
#include "model/traits.h"

namespace aft {

enum class RunState { empty, opening, ready, running, paused, stopping, stopped, error };
[[nodiscard]] const char* state_name(RunState state);  // "Ready", "Running", ...

struct LayerSummary {
    double bias_norm = NAN;  // ||w|| over all pairs, hidden ones too; NaN before the first step
    int64_t parameters = 0;
};

struct Status {  // a whole picture of the session at one moment
    RunState state = RunState::empty;
    std::string name, path, error, message;  // of the run; file or folder; what went wrong; last
    std::string branch;                      // folder that the last rewind kept
    bool can_go_on = false;                  // after an error that left the weights whole
    bool can_train =
        false;  // false for an opened checkpoint without data, or a run that another process trains
    bool following = false;  // another process trains this run; we read it as it grows
    int64_t step = 0, target_step = 0, saved_step = -1, rewinds = 0;
    double steps_per_s = 0, examples_per_s = 0, eta_s = 0, step_ms = 0, publish_ms = 0;
    int64_t memory_bytes = 0, parameters = 0;
    double loss = NAN, metric = NAN;   // last step, NaN before the first: nats; metric_words
    std::string metric_words, device;  // "bits/dim"; "cpu"
    std::optional<double> floor_bits;
    Config config;
    MixerTraits mixer;  // of the config
    TaskTraits task;
    std::vector<LayerSummary> layers;
    std::vector<std::string> class_names;
    std::vector<uint8_t> alphabet;  // text models: the byte of each token; else empty
    int64_t tokens = 0, grid_height = 0, grid_width = 0;  // T and the token grid
};

// What a panel wants to see. The answer is cached by (step, this request).
struct ProbeRequest {
    std::string probe;  // room of model/probe: "bias", "kernel", "attention", ...
    int64_t step = -1;  // -1 = live (newest snapshot); else the stored moment at or before it
    int64_t layer = 0, head = -1, channel = -1, position = 0;
    std::map<std::string, std::string> options;  // the probe's own, probe_list() of jobs.h
    std::vector<uint8_t>
        tokens;  // the input sequence (image levels or text tokens); empty = none needed
    [[nodiscard]] bool operator==(const ProbeRequest&) const = default;
};

struct SampleOptions {
    int64_t samples = 4, top_k = 0, particles = 1;
    double temperature = 1, top_p = 1;
    uint64_t seed = 1;
    std::string weights = "fp32";  // of the decoder: fp32, bf16, int8 (aft-simple, -local, -full)
};

struct CompletionRequest {
    std::vector<uint8_t> tokens;   // known values; ignored where `unknown`
    std::vector<uint8_t> unknown;  // 1 = to be filled, length T (text: prompt length + N)
    SampleOptions sample;
    int64_t step = -1;
    int64_t from_position =
        -1;  // continue: keep all before it from `continued`, change `forced` there
    int64_t from_sample = 0;
    int64_t forced = -1;  // value put at from_position, -1 = sample it
};

// Filled in live; a new object at every publication (about 10 a second).
struct Completion {
    uint64_t id = 0;
    int64_t step = 0;                 // of the weights
    int64_t position = 0, total = 0;  // tokens decided, T
    bool done = false, stopped = false;
    std::string error;
    std::vector<std::vector<uint8_t>> samples;  // n x T, valid up to position
    std::vector<double> log_likelihood;  // nats over filled positions, temperature 1, untruncated
    std::vector<std::vector<float>> surprise, entropy;  // n x T, bits; NaN where not filled
    std::vector<uint8_t> unknown;
    double seconds = 0;
};

struct OpenRequest {
    std::string path;  // checkpoint or run folder; empty = new run from config
    std::optional<Config> config;
    std::string out;  // run folder of a new run; empty = runs/NAME-N
    std::string device = "cpu";
    bool autostart = false;
};

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
    struct DataItem {
        std::vector<uint8_t> tokens;
        int64_t label = -1;
        std::string split, caption;  // split: the part of the data it is of; empty for a file
    };
    struct ItemError {  // with words: it cannot be had
        std::string words;
        bool is_part_empty = false;  // the data are there, this part of them is not
    };
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

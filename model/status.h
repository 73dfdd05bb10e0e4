// Status: a complete snapshot of what the window knows of a run, but for curves and fields.
// Published by the session, read by panels. Plain types. No LibTorch. Any thread.
#pragma once
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/config.h"
#include "model/traits.h"

namespace aft {

enum class RunState { empty, opening, ready, running, paused, stopping, stopped, error };
[[nodiscard]] const char* state_name(RunState state);  // "Ready", "Running", ...

struct LayerSummary {
    double bias_norm = NAN;  // ||w|| over all pairs, hidden ones too; NaN before the first step
    int64_t parameters = 0;
};

// What became of the copy that was asked for last.
struct CopyAnswer {
    int64_t ticket = 0;     // of who asked; 0: nobody has
    std::string problem{};  // "" = it is saved
};

struct Status {
    RunState state = RunState::empty;
    std::string name, path, error, message;  // of the run; file or folder; what went wrong; last
    std::string branch;                      // folder that the last rewind kept
    bool can_resume = false;                 // after an error that left the weights whole
    // false for an opened checkpoint without data, or a run that another process trains.
    bool can_train = false;
    // After an error alone: the folder that this run was read from or trained in is no longer
    // there.
    bool is_gone = false;
    bool following = false;  // another process trains this run; we read it as it grows
    // false: another program's run, whose config.json has no "train.learning_rate": those settings
    // are defaults, which count only where it is continued here.
    bool names_rates = true;
    int64_t step = 0, saved_step = -1, rewinds = 0;
    // Of the stored biases that stand for weights, of which there are none.
    int64_t biases_step = -1;
    int64_t target_step = 0;  // 0: of a run that is followed, whose program named none
    double steps_per_s = 0, examples_per_s = 0, eta_s = 0, step_ms = 0, publish_ms = 0;
    int64_t memory_bytes = 0, parameters = 0;
    double loss = NAN, metric = NAN;   // last step, NaN before the first: nats; metric_words
    std::string metric_words, device;  // "bits/dim"; "cpu"
    std::optional<double> floor_bits;
    Config config;
    MixerTraits mixer;  // of the config
    TaskTraits task;
    std::vector<LayerSummary> layers;
    // Weights that held NaN or infinity when they were read from a file, in its order.
    std::vector<std::string> not_finite;
    CopyAnswer copy{};
    std::vector<std::string> class_names;
    std::vector<uint8_t> alphabet;  // text models: the byte of each token; else empty
    int64_t tokens = 0, grid_height = 0, grid_width = 0;  // T and the token grid
    // Takes over a config, and what follows from it alone: traits, tokens, grid.
    void describe(const Config& of);
};

}  // namespace aft

// A race of training steps: whole nets, each with its own trainer (data, forward, backward, AdamW)
// on the same batches. LibTorch inside; bench/ only, on the thread that runs the benchmark.
#pragma once
#include <string>
#include <vector>

#include "bench/timing/rounds.h"
#include "bench/workloads/workload.h"
#include "model/config.h"

namespace aft::bench {

struct TrainForm {
    std::string name, group;  // "ours", "einsum", "attention"
    Config config;
};

struct TrainCase {
    std::vector<TrainForm> forms = {};  // ours first
    std::vector<Accept> accept = {};
};

// One row: {"kind": "train", the conditions (rounds.h), "contestants": [{"name", "group",
// "ours", "precision", "parameters", "loss", "error", "gradient_error", the times of a step
// (rounds.h), "over", "examples_per_second"}], "accept"}. Before any time the loss and the
// gradients of all parameters of the first step are compared with those of the same net in float64;
// nets of other mixers compute another function, each has its own.
[[nodiscard]] nlohmann::json train_race(const TrainCase& one, const BenchSettings& settings,
                                        const JobControl& control);

// The same of forward passes without gradients, of classifiers: {"kind": "infer", ...}, the error
// is that of the logits; no loss.
[[nodiscard]] nlohmann::json infer_race(const TrainCase& one, const BenchSettings& settings,
                                        const JobControl& control);

// The part that both races share, with nets that are ready: alternating rounds, ratios over the
// first, verdicts.
struct NetRace {
    std::string kind;
    const TrainCase& one;
    std::vector<Turn>& turns;           // one per form
    std::vector<nlohmann::json> about;  // the same: what is known of it without a clock
};
[[nodiscard]] nlohmann::json race_nets(const NetRace& race, const BenchSettings& settings,
                                       const JobControl& control);

struct StepErrors {
    double loss = 0;       // of the first step
    double error = 0;      // of that loss, relative
    double gradients = 0;  // relative L2 norm, the worst of all parameters
};
// Errors of a new trainer's first step, optimiser included (the gradients are read from its
// averages), against the net of `truth` in float64 with the same weights.
[[nodiscard]] StepErrors first_step_errors(const Config& config, const ModelConfig& truth);
// The model that a net must agree with: itself; for einsum AFT, aft-local.
[[nodiscard]] ModelConfig truth_of(const ModelConfig& model);

// Next-token models: `layers` of width d over pictures of 32 x 32 x 3 with 256 values.
[[nodiscard]] Config pixel_config(const std::string& mixer, bool quick);
// "2 layers, d=256, T=3072, 1 picture a step"
[[nodiscard]] std::string step_words(const Config& config);
// Ours and the same net with softmax attention (and, of aft-local, with einsum AFT).
[[nodiscard]] std::vector<TrainForm> against_baselines(const Config& ours, const Config& softmax);

}  // namespace aft::bench

// A race of training steps: whole nets, each with its own trainer (data, forward, backward, AdamW)
// on the same batches. LibTorch inside; bench/ only, on the thread that runs the benchmark.
#pragma once
#include <string>
#include <vector>

#include "bench/workload.h"
#include "model/config.h"

namespace aft::bench {

struct TrainForm {
    std::string name;
    Config config;
    bool ours = false;
};

struct TrainCase {
    std::string name;
    std::vector<TrainForm> forms = {};  // ours first
    double least_ratio = 0;             // over the fastest peer, at least
};

// One row: {"kind": "train", "case", "contestants": [{"name", "ours", "parameters", "loss",
// "rounds", "least_ms", "median_ms", "examples_per_second", "ratio", "ratio_low", "ratio_high"}],
// "accept", ...}. Peers are other models: what is compared is the time, the loss of the first step
// is shown because it must be that of a fresh model, log(levels).
[[nodiscard]] nlohmann::json train_race(const TrainCase& one, const Settings& settings,
                                        const JobControl& control);

// Next-token models: `layers` of width d over pictures of 32 x 32 x 3 with 256 values.
[[nodiscard]] Config pixel_config(const std::string& mixer, bool quick);

}  // namespace aft::bench

// Jobs that train: the training itself, and what a new one needs before it starts. Plain types. No
// LibTorch. Block until done; any thread.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/progress.h"
#include "model/config.h"
#include "model/traits.h"

namespace aft {

class RankGroup;

struct TrainRequest {
    Config config;
    std::string out;               // run folder; empty = runs/NAME-N
    std::string resume;            // run folder to resume
    std::string from;              // weights that a new run starts from; empty = random ones
    std::optional<int64_t> until;  // --steps
    std::vector<std::string> set;  // key=value given together with resume
    std::string device = "cpu";
    RankGroup* ranks = nullptr;  // of whom this is the leader; none: alone. Outlives the job.
    // Called before the first step of a run with `from`: what was taken, what starts anew; and at
    // the end where train.until_loss, .until_validation or .until_minutes was met: which one.
    std::function<void(const std::string&)> say = [](const std::string&) {};
};
struct TrainResult {
    std::string run, checkpoint;
    int64_t step = 0, steps_done = 0;  // now; by this job
    int64_t target = 0;                // the step it was to reach
    int64_t ranks = 1;
    std::map<std::string, double> metrics;  // of the last step; empty = no step was ever done
    MixerTraits mixer;                      // as published in Status
    TaskTraits task;
    int64_t peak_memory_bytes = 0;
    double seconds = 0;
    // "target", "interrupted", or what was met before it, in the words of the log and of `say`.
    std::string stop_reason;
    bool interrupted = false;
};
// Ranks beside the leader: take every step with it until it is done. Error where a rank is lost,
// and what goes wrong here, which the others learn.
void serve_train_job(RankGroup& ranks, const std::string& device);
// report gets one Progress per step, `what` = "loss 2.31 bits/dim, 10.2 it/s".
[[nodiscard]] TrainResult train_job(const TrainRequest& request, const JobControl& control);

// What a model of ours, a checkpoint or a run folder, says of a run that starts from its weights
// alone.
struct ModelSettings {
    Config config;
    std::vector<uint8_t> alphabet{};  // text models: byte of each token; empty = all 256
};
// Reads the header alone. Error where it is none.
[[nodiscard]] ModelSettings settings_of_model(const std::string& model);
// A data SPEC with the options size, levels, gray and alphabet that it leaves out as that model
// needs them.
[[nodiscard]] std::string data_for_model(const std::string& source, const ModelSettings& settings);

struct FittedConfig {
    Config config;
    // What the data changed in the model: "from the data: model.height = 32 ...".
    std::string note{};
};
// Opens the data of a new run as its start would, and gives the model their shape. given: keys that
// a user has set, which win: where the SPEC leaves size, levels or gray out they become its
// options. usage Error naming both where the data are otherwise all the same; Error if the data
// cannot be had or do not belong to the model. Throws Interrupted where `stop` asks to stop while a
// folder is listed.
[[nodiscard]] FittedConfig fit_to_data(const Config& config,
                                       const std::vector<std::string>& given = {},
                                       const std::stop_token& stop = {});

// Memory and time of a training, before it starts.
struct Estimate {
    int64_t parameters = 0;
    int64_t weights_bytes = 0, activations_bytes = 0;
    int64_t training_bytes = 0;  // weights, gradients and averages, activations
    double seconds = 0;          // of all steps of the config, very roughly
    std::string words;           // all that in a line; the time from 50 steps on
};
// config: one that fits its data (fit_to_data).
[[nodiscard]] Estimate estimate(const Config& config);

}  // namespace aft

// Jobs: the door for everything that is not a live run. Free functions: request, control -> plain
// result. Block until done; stopped by control.stop (throws Interrupted). Any thread, no shared
// state. Plain types only. Errors: aft::Error with the file, key or flag.
#pragma once
#include <cstdint>
#include <exception>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/field.h"
#include "core/image.h"
#include "core/progress.h"
#include "core/rooms.h"
#include "model/config.h"
#include "model/probe/option.h"
#include "model/requests.h"
#include "model/traits.h"

namespace aft {

// First call of main, before anything else of LibTorch: opens CUDA where asked for and there, sets
// threads. device: cpu, cuda, auto. Error if cuda is asked for and not to be had (says what is
// missing).
void initialize_model(const std::string& device, int64_t threads);
[[nodiscard]] nlohmann::json
system_report();  // device, threads, LibTorch version, memory, capabilities
// One line for any exception of a job: without LibTorch's stack; out of memory with the remedy.
[[nodiscard]] std::string plain_words(const std::exception& error);

struct TrainRequest {
    Config config;
    std::string out;               // run folder; empty = runs/NAME-N
    std::string resume;            // run folder to go on from
    std::optional<int64_t> until;  // --steps
    std::vector<std::string> set;  // key=value given together with resume
    std::string device = "cpu";
};
struct TrainResult {
    std::string run, checkpoint;
    int64_t step = 0, steps_done = 0;  // now; by this job
    int64_t target = 0;                // the step it was to reach
    nlohmann::json metrics;
    MixerTraits mixer;  // as published in Status
    TaskTraits task;
    int64_t peak_memory_bytes = 0;
    double seconds = 0;
    bool interrupted = false;
};
// report gets one Progress per step, `what` = "loss 2.31 bits/dim, 10.2 it/s".
[[nodiscard]] TrainResult train_job(const TrainRequest& request, const JobControl& control);
// Opens the data of a new run as its start would, and gives the model their shape. Error if they
// cannot be had or do not belong to the model.
[[nodiscard]] Config fit_to_data(const Config& config);
// Memory and time before the start, of a config that fits its data (fit_to_data): {"parameters",
// "weights_bytes", "activations_bytes", "words"}.
[[nodiscard]] nlohmann::json estimate(const Config& config);

// Writes the weights of a model alone, to be given away. half: as F16, half the size; every value
// is then rounded to 11 bits, and reading turns it into float32 again. -> {"file", "bytes",
// "parameters", "dtype"}.
[[nodiscard]] nlohmann::json export_weights(const std::string& model, const std::string& out,
                                            bool half);

struct EvalRequest {
    std::string model, data, device = "cpu";
    int64_t limit = 0;
    int64_t stride = 0;
    int64_t batch = 0;
};
[[nodiscard]] nlohmann::json eval_job(const EvalRequest& request, const JobControl& control);

struct CompleteRequest {
    std::string model, image, mask, data, device = "cpu";
    std::optional<std::string> prompt;  // text to go on with; empty: from nothing
    int64_t index = 0;                  // of data, when no image is given
    int64_t keep_rows = -1, length = 256;
    SampleOptions sample;
    std::string out;  // folder or .png; text: file or empty
};
[[nodiscard]] nlohmann::json complete_job(const CompleteRequest& request,
                                          const JobControl& control);

[[nodiscard]] nlohmann::json inspect_job(const std::string& model);
[[nodiscard]] nlohmann::json inspect_preset(const Config& config);

struct ProbeJob {
    std::string probe, model, image, text, data, device = "cpu";
    int64_t index = 0, layer = 0, head = -1, channel = -1, position = 0;
    std::map<std::string, std::string> options;
    std::string out;  // .npy, .png, .csv
};
[[nodiscard]] std::vector<ProbeInfo> probe_list();  // every probe with its options
[[nodiscard]] nlohmann::json probe_job(const ProbeJob& request, const JobControl& control);

struct OpRequest {
    std::string name, in, out, precision = "fp32", backend = "reference", device = "cpu";
    std::optional<int64_t> window;  // local needs one
    int64_t grid_height = 0, grid_width = 0;
    bool causal = false, grad = false, outside_hidden = false;
};
[[nodiscard]] nlohmann::json op_job(const OpRequest& request);

struct RunRequest {
    std::string model, in, out, part, device = "cpu";
    int64_t layer = -1;
};  // part: "", mixer, block
[[nodiscard]] nlohmann::json run_job(const RunRequest& request);

// Whether a checkpoint or run folder can be opened, as far as its config and the header of its
// (newest) checkpoint tell; no tensor is read: milliseconds. Error as opening it would give.
void check_model(const std::string& path);

// What the list of recent runs shows of a run folder or checkpoint. Never throws: `error` has the
// words. what: "mirror, aft-full, 2 layers"; state: running, finished, failed, paused, model.
struct RunSummary {
    std::string path, name, what, state;
    std::string metric_words, error;
    int64_t step = 0, target_step = 0;
    int64_t changed = 0;        // seconds since 1970 of the last write
    double metric = 0;          // NaN = none
    std::vector<float> losses;  // at most 96, oldest first
    MixerTraits mixer;          // as published in Status
    TaskTraits task;
    Field thumbnail;  // exp(w)-1 of the middle layer, at most 48 x 48 blocks; empty = none
};
[[nodiscard]] RunSummary summarize_run(const std::string& path);
// Name on screen, of the path alone: "mirror-1", "mirror-1, step 50", "mirror-1, until step 400".
[[nodiscard]] std::string shown_name(const std::string& path);
// The run folder that a saved step "RUN/checkpoints/step-N.safetensors" belongs to; "" for others.
[[nodiscard]] std::string run_of_step(const std::string& path);
// Run folders in runs/ of the folder one is in, where new runs go: the newest first, at most so
// many; absolute.
[[nodiscard]] std::vector<std::string> runs_here(size_t most);

// A picture of the unseen part of a data source ("mirror?size=16"), grey or RGB. Error if there is
// none.
[[nodiscard]] Image data_picture(const std::string& source, int64_t index);

struct NamedList {
    std::string name;
    std::vector<RoomInfo> rooms;
};
// mixers, tasks, sources, formats, probes, presets
[[nodiscard]] std::vector<NamedList> model_lists();

}  // namespace aft

// Checkpoint: a model (and, for training, its whole state) in one safetensors file. docs/format.md
// lists the keys.
#pragma once
#include <ATen/core/Tensor.h>

#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "model/config.h"
#include "model/net/net.h"

namespace aft {

struct OptimizerState;  // model/train/optimizer.h
struct TensorFile;      // model/checkpoints/format.h

inline constexpr const char* kAveragePrefix = "ema.";

struct Checkpoint {
    Config config;
    int64_t step = 0;
    nlohmann::json metrics;  // last metrics, task metric included
    nlohmann::json data;     // data description: classes, alphabet, mean of normalisation
    std::vector<std::pair<std::string, at::Tensor>> weights;  // canonical names
    // "optim.exp_avg.NAME", "optim.exp_avg_sq.NAME", "optim.steps"; with train.ema "ema.NAME"
    std::vector<std::pair<std::string, at::Tensor>> optimizer;
    nlohmann::json training;  // random state's place, live settings; null = weights only
    std::string path = "";    // the file it was read from, for messages; "" = made here
};

// MODEL may be a file or a run folder (its newest checkpoint). Throws with the path on anything
// wrong.
[[nodiscard]] std::filesystem::path resolve_model(const std::filesystem::path& model);
// Weights stored in half precision come back as float32, value for value.
[[nodiscard]] Checkpoint read_checkpoint(const std::filesystem::path& model);
// What it says of itself: all but weights and optimizer state, no tensor data are read. Validates
// config and tensor header (the errors of read_checkpoint).
[[nodiscard]] Checkpoint read_checkpoint_header(const std::filesystem::path& model);
void check_checkpoint(const std::filesystem::path& model);  // the same, for its errors alone
void write_checkpoint(const std::filesystem::path& path, const Checkpoint& checkpoint);
[[nodiscard]] TensorFile to_tensor_file(const Checkpoint& checkpoint);  // what that writes
// Its metrics as numbers: NaN where there is another value; empty if there are none.
[[nodiscard]] std::map<std::string, double> metric_values(const Checkpoint& checkpoint);
// Fits the weights into a net of the checkpoint's config: missing, extra, wrong shape or dtype are
// errors.
[[nodiscard]] Net make_net(const Checkpoint& checkpoint, at::Device device = at::kCPU);

// Position biases alone (docs/format.md, "Maps alone").
[[nodiscard]] bool is_bias_alone(const Checkpoint& checkpoint);
// usage Error that names the file and the work, "complete", where that is all it holds.
void check_whole(const Checkpoint& checkpoint, const std::string& work);

// The moving average of the weights in place of the weights. Error where there is none.
void use_average(Checkpoint& checkpoint);

// Half precision can hold every value of it (values over 65504 would become infinite).
[[nodiscard]] bool fits_half(const at::Tensor& tensor);

}  // namespace aft

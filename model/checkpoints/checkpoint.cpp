#include "model/checkpoints/checkpoint.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "core/caught.h"
#include "core/check.h"
#include "core/files.h"
#include "core/json.h"
#include "core/outside.h"
#include "model/checkpoints/description.h"
#include "model/checkpoints/format.h"
#include "model/checkpoints/map_tensors.h"
#include "model/checkpoints/run_paths.h"
#include "model/run_name.h"

namespace aft {
namespace {

using nlohmann::json;

constexpr const char* kOptimizerPrefix = "optim.";

bool is_optimizer(const std::string& name) {
    return name.starts_with(kOptimizerPrefix) || name.starts_with(kAveragePrefix);
}

void read_description(const TensorFile& file, const std::string& path, Checkpoint& checkpoint) {
    const Description found = parse_description(file.metadata, path);
    const std::string where = path + ": " + kDescriptionKey;
    checkpoint.config = found.maps.is_null()
                            ? stored_config(found.config, where + ".config")
                            : config_of_maps(maps_from_json(found.maps, where + ".maps"));
    if (found.maps.is_null() && is_bias_alone(checkpoint))
        fail("{}: key 'maps' stands in 'config'; of position biases alone it stands beside 'step'",
             where);
    checkpoint.step = found.step;
    checkpoint.metrics = found.metrics;
    checkpoint.data = found.data;
    checkpoint.training = found.training;
    if (found.task && *found.task != checkpoint.config.model.task)
        fail("{}: task {} and config.model.task \"{}\" differ", where, found_json(*found.task),
             checkpoint.config.model.task);
}

json describe(const Checkpoint& checkpoint) {
    json description{{"format_version", kCheckpointVersion},
                     {"program_version", version()},
                     {"task", checkpoint.config.model.task},
                     {"step", checkpoint.step}};
    if (is_bias_alone(checkpoint))
        description["maps"] = maps_to_json(checkpoint.config.model.maps);
    else
        description["config"] = config_to_json(checkpoint.config);
    if (!checkpoint.metrics.is_null()) description["metrics"] = checkpoint.metrics;
    if (!checkpoint.data.is_null()) description["data"] = checkpoint.data;
    if (!checkpoint.training.is_null()) description["training"] = checkpoint.training;
    return description;
}

// The least number of values that a net of this config holds (its MLPs, positions and biases), so
// that a config that does not belong to the file is refused before memory is taken for it.
double least_values(const ModelConfig& model) {
    if (task_traits(model).is_bias_alone) return 0;  // its config is of the tensors
    const double dim = static_cast<double>(model.dim), T = static_cast<double>(model.tokens());
    const bool is_whole = !task_traits(model).is_mixer_alone;
    const double mlp = is_whole ? 2.0 * static_cast<double>(model.mlp_ratio) * dim * dim : 0.0;
    const double positions = is_whole && model.positions == "learned" ? T * dim : 0.0;
    return static_cast<double>(model.layers) * (mlp + mixer_traits(model).bias_values) + positions;
}

void check_size(const Checkpoint& checkpoint) {
    double values = 0;
    for (const auto& [name, tensor] : checkpoint.weights)
        values += static_cast<double>(tensor.numel());
    const double least = least_values(checkpoint.config.model);
    if (least > values)
        fail(
            "the checkpoint's config describes a net of at least {:.0f} values, but its tensors "
            "hold {:.0f}: config and tensors do not belong together",
            least, values);
}

std::string shape_text(const at::Tensor& tensor) {
    return fmt::format("[{}]", fmt::join(tensor.sizes(), ", "));
}

at::Tensor widened(const at::Tensor& stored) {
    const auto type = stored.scalar_type();
    return type == at::kHalf || type == at::kBFloat16 ? stored.to(at::kFloat) : stored;
}

// What is wrong with one weight; empty = it fits.
std::string misfit(const Parameter& parameter, const at::Tensor* found) {
    if (!found)
        return fmt::format("'{}' {} is missing", parameter.name, shape_text(parameter.value));
    if (found->sizes() != parameter.value.sizes())
        return fmt::format("'{}' has shape {}, the config needs {}", parameter.name,
                           shape_text(*found), shape_text(parameter.value));
    if (found->scalar_type() != at::kFloat)
        return fmt::format("'{}' has dtype {}, allowed: F32, F16, BF16", parameter.name,
                           c10::toString(found->scalar_type()));
    return "";
}

struct Misfits {  // the first ten in words, all counted
    std::vector<std::string> first{};
    size_t count = 0;
    [[nodiscard]] bool are_named() const { return first.size() >= 10; }
    void add(std::string words) {
        ++count;
        if (!are_named()) first.push_back(std::move(words));
    }
};

void fail_misfits(const std::string& path, const Misfits& misfits) {
    std::string more;
    if (misfits.count > misfits.first.size())
        more = fmt::format(" (and {} more)", misfits.count - misfits.first.size());
    fail("{}the checkpoint does not fit its config: {}{}", path.empty() ? "" : path + ": ",
         fmt::join(misfits.first, "; "), more);
}

}  // namespace

bool is_bias_alone(const Checkpoint& checkpoint) {
    return task_traits(checkpoint.config.model).is_bias_alone;
}

void check_whole(const Checkpoint& checkpoint, const std::string& work) {
    if (is_bias_alone(checkpoint))
        fail_usage("{}: holds position biases alone: {} needs a whole model", checkpoint.path,
                   work);
}

void use_average(Checkpoint& checkpoint) {
    const std::string prefix = kAveragePrefix;
    std::vector<std::pair<std::string, at::Tensor>> average;
    for (const auto& [name, tensor] : checkpoint.optimizer)
        if (name.starts_with(prefix))
            average.emplace_back(name.substr(prefix.size()), widened(tensor));
    if (average.empty())
        fail("{}: there is no moving average of the weights in it (train.ema = 0)",
             checkpoint.path);
    checkpoint.weights = std::move(average);
}

bool fits_half(const at::Tensor& tensor) {
    constexpr double kMostHalf = 65504;
    return tensor.numel() == 0 || tensor.detach().abs().max().item<double>() <= kMostHalf;
}

std::map<std::string, double> metric_values(const Checkpoint& checkpoint) {
    std::map<std::string, double> values;
    for (const auto& [key, value] : checkpoint.metrics.items())  // of null: none
        values[key] =
            value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
    return values;
}

// "; it holds runs: take one of a, b and 3 more", as of the folder of a sweep.
static std::string inner_run_words(const std::filesystem::path& folder) {
    constexpr size_t kNamed = 5, kMost = 1000;
    std::vector<std::string> runs;
    std::error_code error;
    for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end;
         it.increment(error))
        if (is_run_folder(it->path()) && runs.size() < kMost) runs.push_back(it->path().string());
    if (runs.empty()) return "";
    std::sort(runs.begin(), runs.end());
    std::string words;
    for (size_t i = 0; i < std::min(kNamed, runs.size()); ++i)
        words += (i == 0 ? "" : ", ") + shown_path(runs[i]);
    if (runs.size() > kNamed) words += fmt::format(" and {} more", runs.size() - kNamed);
    return fmt::format("; it holds {}: {}", runs.size() == 1 ? "a run" : "runs, take one of them",
                       words);
}

std::filesystem::path resolve_model(const std::filesystem::path& model) {
    std::error_code error;
    if (!fs::exists(model, error))
        fail("{}: no such model (expected a checkpoint file or a run folder)", model.string());
    if (!fs::is_directory(model, error)) return model;
    if (!is_run_folder(model))
        fail("{}: a folder, but not a run folder (no config.json in it){}", model.string(),
             inner_run_words(model));
    const std::vector<int64_t> steps = checkpoint_steps(model);
    if (steps.empty()) {
        // A config that cannot be read is the reason, and says so.
        static_cast<void>(load_run_config(config_path(model).string()));
        fail("{}: this run has no checkpoint yet (none in checkpoints/)", model.string());
    }
    return checkpoint_path(model, steps.back());
}

namespace {

// Of maps alone, whose files say none: the file's, or that of its run.
std::string name_of_maps(const std::filesystem::path& path) {
    const std::filesystem::path run = run_of_saved(path);
    const std::string name = run.empty() ? path.stem().string() : run.filename().string();
    return name.empty() || !name_problem(name).empty() ? "maps" : name;
}

Checkpoint checkpoint_of(const std::filesystem::path& path, TensorFile file) {
    Checkpoint checkpoint;
    checkpoint.path = path.string();
    read_description(file, path.string(), checkpoint);
    if (is_bias_alone(checkpoint)) {
        for (auto& [name, tensor] : file.tensors)
            checkpoint.weights.emplace_back(name, widened(tensor));
        take_map_tensors(checkpoint.config.model.maps, checkpoint.weights, checkpoint.path);
        checkpoint.config.name = name_of_maps(path);
        return checkpoint;
    }
    for (auto& [name, tensor] : file.tensors) {
        if (is_optimizer(name)) {
            checkpoint.optimizer.emplace_back(name, std::move(tensor));
        } else {
            checkpoint.weights.emplace_back(name, widened(tensor));
        }
    }
    with_error(
        [&] {
            checkpoint.config.model.check();
            check_size(checkpoint);
        },
        [&](const Error& error) {
            return Error(fmt::format("{}: {}", path.string(), error.what()));
        });
    return checkpoint;
}

Checkpoint header_of(const std::filesystem::path& path) {
    Checkpoint checkpoint = checkpoint_of(path, read_tensors(path, TensorData::left_out));
    checkpoint.weights.clear();
    checkpoint.optimizer.clear();
    return checkpoint;
}

// Of a run whose newest checkpoint is damaged: which one before it can be read.
std::string older_words(const std::filesystem::path& run) {
    const std::vector<int64_t> steps = checkpoint_steps(run);
    for (size_t i = steps.size(); i-- > 1;) {
        const std::filesystem::path older = checkpoint_path(run, steps[i - 1]);
        if (error_words([&] { (void)header_of(older); }).empty())
            return fmt::format("; before it, {} can be read, and counts without the newer file",
                               older.string());
    }
    return "";
}

// Reads the file of a model, for a run folder that of its newest checkpoint.
template <class Read>
Checkpoint read_model(const std::filesystem::path& model, const Read& read) {
    const std::filesystem::path path = resolve_model(model);
    if (!is_run_folder(model)) return read(path);
    return with_error(
        [&] { return read(path); },
        [&](const Error& error) { return Error(error.what() + older_words(model), error.kind()); });
}

}  // namespace

Checkpoint read_checkpoint(const std::filesystem::path& model) {
    return read_model(model,
                      [](const auto& path) { return checkpoint_of(path, read_tensors(path)); });
}

Checkpoint read_checkpoint_header(const std::filesystem::path& model) {
    return read_model(model, header_of);
}

void check_checkpoint(const std::filesystem::path& model) {
    static_cast<void>(read_checkpoint_header(model));
}

TensorFile to_tensor_file(const Checkpoint& checkpoint) {
    TensorFile file;
    file.tensors = checkpoint.weights;
    file.tensors.insert(file.tensors.end(), checkpoint.optimizer.begin(),
                        checkpoint.optimizer.end());
    file.metadata[kDescriptionKey] = json_text(describe(checkpoint));
    return file;
}

void write_checkpoint(const std::filesystem::path& path, const Checkpoint& checkpoint) {
    write_tensors(path, to_tensor_file(checkpoint));
}

Net make_net(const Checkpoint& checkpoint, at::Device device) {
    check_size(checkpoint);
    Net net(checkpoint.config.model, std::nullopt, device);
    std::unordered_map<std::string, const at::Tensor*> stored;
    for (const auto& [name, tensor] : checkpoint.weights) stored[name] = &tensor;

    Misfits misfits;
    for (const Parameter& parameter : net.parameters()) {
        const auto found = stored.find(parameter.name);
        std::string text = misfit(parameter, found == stored.end() ? nullptr : found->second);
        if (!text.empty()) misfits.add(std::move(text));
        if (found != stored.end()) stored.erase(found);
    }
    for (const auto& [name, tensor] : checkpoint.weights)
        if (stored.contains(name))
            misfits.add(misfits.are_named() ? ""
                                            : fmt::format("'{}' {} is not part of the net",
                                                          shown(name), shape_text(tensor)));
    if (misfits.count > 0) fail_misfits(checkpoint.path, misfits);

    const c10::NoGradGuard no_grad;
    for (const auto& [name, tensor] : checkpoint.weights) stored[name] = &tensor;
    for (Parameter& parameter : net.parameters()) parameter.value.copy_(*stored[parameter.name]);
    return net;
}

}  // namespace aft

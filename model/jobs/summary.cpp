// summarize_run: the row of a run or checkpoint in the list of recent runs. Reads the log, and of
// the weights only one layer's position bias.
#include <ATen/ATen.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "core/data_spec.h"
#include "model/checkpoints/checkpoint.h"
#include "model/jobs.h"
#include "model/metrics.h"
#include "model/mixers/aft_layer.h"
#include "model/probe/parts.h"
#include "model/tasks/task.h"
#include "model/train/history.h"
#include "model/train/run_folder.h"
#include "model/train/run_lock.h"
#include "model/train/run_state.h"

namespace aft {
namespace {

namespace fs = std::filesystem;
using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;

const at::Tensor* find_tensor(const NamedTensors& tensors, const std::string& name) {
    for (const auto& [key, value] : tensors)
        if (key == name) return &value;
    return nullptr;
}

// exp(w)-1 of the targets from `first` on, [n, T] float32, in the gauge that the Biases workspace
// starts with; 0 where the source is not visible. w: their rows [n, T].
at::Tensor in_fixed_gauge(const at::Tensor& w, int64_t first, const ModelConfig& model) {
    const at::Tensor t = at::arange(first, first + w.size(0), at::kLong).unsqueeze(1);
    const at::Tensor j = at::arange(w.size(1), at::kLong).unsqueeze(0);
    probe::BiasRows rows;
    rows.visible = model.causal() ? (j <= t) : at::ones_like(w, at::kBool);
    const MixerTraits traits = mixer_traits(model);
    rows.inside = traits.window > 0 ? (t - j).abs() < traits.window : at::ones_like(w, at::kBool);
    if (traits.outside_hidden) rows.visible = rows.visible & rows.inside;
    rows.values = at::where(rows.inside, w.to(at::kDouble), 0.0).unsqueeze(0);
    if (traits.free_rows) (void)probe::fix_gauge(rows);
    return at::where(rows.visible, rows.values[0], 0.0).expm1().to(at::kFloat);
}

// exp(w)-1 of a layer as [rows, columns]; conv kernels come as their first head.
at::Tensor bias_map(const NamedTensors& tensors, const ModelConfig& model) {
    const std::string prefix = fmt::format("blocks.{}.mixer.", model.layers / 2);
    const auto find = [&](const char* name) {
        const at::Tensor* const found = find_tensor(tensors, prefix + name);
        return found != nullptr ? found->to(at::kFloat) : at::Tensor();
    };
    if (const at::Tensor k = find("kernel"); k.defined()) {
        const at::Tensor w = Kernel{k, find("gamma"), find("beta")}.effective();
        return at::expm1(w.dim() == 3 ? w[0] : w);
    }
    const at::Tensor w = find("w"), u = find("u"), r = find("r");
    if (!w.defined() && !(u.defined() && r.defined())) return {};
    constexpr int64_t kRows = 256;  // at a time: w as a whole is large
    std::vector<at::Tensor> parts;
    for (int64_t i = 0, T = w.defined() ? w.size(0) : u.size(0); i < T; i += kRows) {
        const int64_t end = std::min(i + kRows, T);
        parts.push_back(in_fixed_gauge(
            w.defined() ? w.slice(0, i, end) : at::mm(u.slice(0, i, end), r.t()), i, model));
    }
    return at::cat(parts, 0);
}

// Blocks of whole values, each the value of largest magnitude (a mean would hide single cells).
Field thumbnail_of(const at::Tensor& map) {
    Field field;
    if (!map.defined() || map.dim() != 2 || map.numel() == 0) return field;
    constexpr int64_t kSide = 48;
    const auto kernel = [](int64_t n) { return (n + kSide - 1) / kSide; };
    const int64_t kr = kernel(map.size(0)), kc = kernel(map.size(1));
    const int64_t rows = (map.size(0) + kr - 1) / kr, columns = (map.size(1) + kc - 1) / kc;
    const at::Tensor padded =
        at::constant_pad_nd(map, {0, columns * kc - map.size(1), 0, rows * kr - map.size(0)});
    const at::Tensor cells =
        padded.view({rows, kr, columns, kc}).permute({0, 2, 1, 3}).reshape({rows, columns, -1});
    const at::Tensor at_extreme = cells.abs().argmax(-1, true);
    const at::Tensor values = cells.gather(-1, at_extreme).contiguous();
    field.name = "thumbnail";
    field.axes = {"target", "source"};
    field.shape = {rows, columns};
    field.values.assign(values.data_ptr<float>(), values.data_ptr<float>() + values.numel());
    return field;
}

std::string what_words(const ModelConfig& model, const std::string& source) {
    return split_data_spec(source).room + ", " + mixer_traits(model).words +
           fmt::format(", {} layer{}", model.layers, model.layers == 1 ? "" : "s");
}

int64_t write_time(const fs::path& path) {
    const auto time = fs::last_write_time(path);
    const auto system = std::chrono::file_clock::to_sys(time);
    return std::chrono::duration_cast<std::chrono::seconds>(system.time_since_epoch()).count();
}

std::string metric_key(const std::string& part, const TaskTraits& task) {
    return part == "training" ? task.metric : part + "." + task.metric;
}

// The measure of the validation data where there is one, else that of training; named.
void take_metric(const nlohmann::json& newest, const TaskTraits& task, RunSummary& summary) {
    for (const std::string part : {"training", "validation"}) {
        const auto found = newest.find(metric_key(part, task));
        if (found == newest.end() || !found->is_number()) continue;
        summary.metric = found->get<double>();
        summary.metric_words = part + " " + task.metric_words;
    }
}

void read_log(const fs::path& run, const TaskTraits& task, RunSummary& summary) {
    uint64_t offset = 0;
    Curves curves;
    while (read_rows(run, offset, curves)) {
    }
    if (!curves.step.empty()) summary.step = std::llround(curves.step.back());
    nlohmann::json newest = nlohmann::json::object();
    for (const std::string& key : {metric_key("training", task), metric_key("validation", task)})
        if (const double value = last_value(curves, key); !std::isnan(value)) newest[key] = value;
    take_metric(newest, task, summary);
    std::vector<float> losses;
    for (const double loss : curves.columns["loss"])
        if (!std::isnan(loss)) losses.push_back(static_cast<float>(loss));
    const size_t stride = losses.size() / 96 + 1;
    for (size_t i = 0; i < losses.size(); i += stride) summary.losses.push_back(losses[i]);
}

void fill_from_config(const Config& config, RunSummary& summary) {
    const TaskTraits& task = task_traits(config.model);
    summary.what = what_words(config.model, config.data.source);
    summary.metric_words = task.metric_words;
    summary.mixer = mixer_traits(config.model);
    summary.task = task;
    summary.target_step = config.train.steps;
}

void summarize_folder(const fs::path& run, RunSummary& summary) {
    const Config config = load_config_file((run / "config.json").string());
    fill_from_config(config, summary);
    read_log(run, task_traits(config.model), summary);
    // With train.log_every > 1 the last step need not be logged, but it is saved.
    if (const auto saved = checkpoint_steps(run); !saved.empty())
        summary.step = std::max(summary.step, saved.back());
    summary.changed =
        write_time(fs::exists(run / "metrics.jsonl") ? run / "metrics.jsonl" : run / "config.json");
    const auto events = read_events(run);
    summary.target_step = asked_steps(events, config);
    summary.state = is_in_error(events, summary.step)     ? "failed"
                    : is_run_locked(run)                  ? "running"
                    : summary.step >= summary.target_step ? "finished"
                                                          : "paused";
    NamedTensors tensors = read_history(run / "history", std::numeric_limits<int64_t>::max());
    summary.thumbnail = thumbnail_of(bias_map(tensors, config.model));
}

void summarize_file(const fs::path& file, RunSummary& summary) {
    const Checkpoint checkpoint = read_checkpoint(file);
    fill_from_config(checkpoint.config, summary);
    summary.state = "model";
    summary.step = checkpoint.step;
    summary.changed = write_time(file);
    take_metric(checkpoint.metrics, task_traits(checkpoint.config.model), summary);
    summary.thumbnail = thumbnail_of(bias_map(checkpoint.weights, checkpoint.config.model));
}

}  // namespace

std::vector<std::string> runs_here(size_t most) {
    std::vector<std::pair<int64_t, std::string>> found;
    std::error_code error;
    for (fs::directory_iterator it("runs", error), end; !error && it != end; it.increment(error)) {
        if (!is_run_folder(it->path())) continue;
        std::error_code gone;
        const auto time = fs::last_write_time(it->path() / "config.json", gone);
        const fs::path path = fs::absolute(it->path(), gone);
        if (!gone) found.emplace_back(time.time_since_epoch().count(), path.string());
    }
    std::sort(found.rbegin(), found.rend());
    std::vector<std::string> paths;
    for (size_t i = 0; i < std::min(most, found.size()); ++i) paths.push_back(found[i].second);
    return paths;
}

void check_model(const std::string& path) {
    if (is_run_folder(path)) {
        static_cast<void>(load_config_file((fs::path(path) / "config.json").string()));
        if (checkpoint_steps(path).empty()) return;  // a training that has not saved yet
    }
    check_checkpoint(path);
}

std::string run_of_step(const std::string& path) {
    const fs::path file(path);
    const bool is_step = file.extension() == ".safetensors" &&
                         file.stem().string().starts_with("step-") &&
                         file.parent_path().filename() == "checkpoints";
    return is_step ? file.parent_path().parent_path().string() : "";
}

std::string shown_name(const std::string& path) {
    fs::path where(path);
    if (where.filename() == "") where = where.parent_path();
    const std::string name = where.stem().string();
    const auto number = [&](std::string_view before) {  // "step-00000050" -> "50"
        const size_t first = name.find_first_not_of('0', before.size());
        return first == std::string::npos ? "0" : name.substr(first);
    };
    if (const std::string run = run_of_step(path); !run.empty())
        return shown_name(run) + ", step " + number("step-");
    if (where.parent_path().filename() == "branches" && name.starts_with("until-"))
        return shown_name(where.parent_path().parent_path().string()) + ", until step " +
               number("until-");
    return name;
}

RunSummary summarize_run(const std::string& path) {
    RunSummary summary;
    summary.path = path;
    summary.metric = std::numeric_limits<double>::quiet_NaN();
    const fs::path where(path);
    summary.name = shown_name(path);
    try {
        AFT_CHECK(fs::exists(where), "{}: no longer there", path);
        if (is_run_folder(where))
            summarize_folder(where, summary);
        else
            summarize_file(where, summary);
    } catch (const std::exception& error) {
        summary.error = error.what();
    }
    return summary;
}

}  // namespace aft

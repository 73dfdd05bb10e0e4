#include "model/session/run_view.h"

#include <ATen/ATen.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/event_words.h"
#include "core/json.h"
#include "model/checkpoints/run_paths.h"
#include "model/decode/input.h"
#include "model/probe/masks.h"
#include "model/tasks/task.h"
#include "model/train/run_folder.h"

namespace aft::session {

namespace {

double seconds_between(std::chrono::steady_clock::time_point from,
                       std::chrono::steady_clock::time_point to) {
    return std::chrono::duration<double>(to - from).count();
}

void set_layers(RunView& view, const Checkpoint& checkpoint) {
    view.status.layers.assign(static_cast<size_t>(checkpoint.config.model.layers), {});
    view.status.parameters = 0;
    for (const auto& [name, value] : checkpoint.weights) {
        view.status.parameters += value.numel();
        const auto layer = static_cast<size_t>(parameter_layer(name));  // -1: of none
        if (layer < view.status.layers.size())
            view.status.layers[layer].parameters += value.numel();
    }
    view.status.not_finite = probe::weight_faults(checkpoint.config.model, checkpoint.weights);
}

void set_metrics(RunView& view, const std::map<std::string, double>& values) {
    Status& status = view.status;
    const TaskTraits& task = task_traits(view.status.config.model);
    const auto read = [&](const std::string& key, double& to) {
        const auto found = values.find(key);
        if (found != values.end()) to = found->second;
    };
    read("loss", status.loss);
    read(task.metric, status.metric);
    for (size_t i = 0; i < status.layers.size(); ++i)
        read("bias_norm.layer." + std::to_string(i), status.layers[i].bias_norm);
}

std::map<std::string, double> numbers(const nlohmann::json& object) {
    std::map<std::string, double> out;
    if (!object.is_object()) return out;
    for (const auto& [key, value] : object.items())
        if (value.is_number()) out[key] = value.get<double>();
    return out;
}

}  // namespace

void describe_model(RunView& view, const Config& config, const Checkpoint& checkpoint) {
    Status& status = view.status;
    status.describe(config);
    status.name = config.name;
    status.step = checkpoint.step;
    status.target_step = std::max(config.train.steps, checkpoint.step);
    status.class_names.clear();
    status.alphabet = alphabet_of(checkpoint);
    const nlohmann::json& data = checkpoint.data;
    if (data.is_object()) {
        if (data.contains("floor_bits") && data["floor_bits"].is_number())
            status.floor_bits = data["floor_bits"].get<double>();
        if (data.contains("classes") && data["classes"].is_array())
            for (const nlohmann::json& name : data["classes"])
                if (name.is_string()) status.class_names.push_back(name.get<std::string>());
    }
    set_layers(view, checkpoint);
    set_metrics(view, numbers(checkpoint.metrics));
    // A file of maps alone need not say its metrics: those of the log.
    if (is_bias_alone(checkpoint)) show_last_row(view);
}

void add_report(RunView& view, const StepReport& report) {
    Status& status = view.status;
    const auto ease = [](double old, double value) {
        return old > 0 ? 0.9 * old + 0.1 * value : value;
    };
    const auto now = std::chrono::steady_clock::now();
    view.step_gap_s = ease(view.step_gap_s, seconds_between(view.last_step_time, now));
    view.last_step_time = now;
    status.step = report.step;
    if (report.timing.contains("step_ms")) {
        status.step_ms = ease(status.step_ms, report.timing.at("step_ms"));
        status.memory_bytes = static_cast<int64_t>(report.timing.at("memory_bytes"));
    }
    status.steps_per_s = view.step_gap_s > 0 ? 1 / view.step_gap_s : 0;
    status.examples_per_s =
        status.steps_per_s * static_cast<double>(view.status.config.train.batch);
    const auto left = static_cast<double>(status.target_step - status.step);
    status.eta_s = status.steps_per_s > 0 ? std::max(left, 0.0) / status.steps_per_s : 0;
    set_metrics(view, report.values);
    std::map<std::string, double> row = report.values;
    for (const auto& [key, value] : report.timing) row["timing." + key] = value;
    if (report.step % std::max<int64_t>(view.status.config.train.log_every, 1) == 0 ||
        row.contains("validation.loss") || report.error)
        add_row(view.curves, report.step, row);
}

void show_last_row(RunView& view) {
    std::map<std::string, double> values;
    for (const auto& [key, column] : view.curves.columns)
        if (const double value = last_value(view.curves, key); !std::isnan(value))
            values[key] = value;
    set_metrics(view, values);
}

void read_run_events(RunView& view, const std::string& run) {
    view.curves.events.clear();
    for (const nlohmann::json& line : read_events(run)) {
        Event event;
        event.step = line.value("step", int64_t{0});
        event.kind = line.value("kind", std::string());
        if (line.contains("detail")) event.text = event_words(line["detail"]);
        view.curves.events.push_back(std::move(event));
    }
    ++view.curves.version;
}

void add_event(RunView& view, const std::string& kind, const std::string& text) {
    view.curves.events.push_back({view.status.step, kind, text});
    ++view.curves.version;
}

uint64_t log_inode(const std::string& run) {
    struct stat info{};
    return ::stat(metrics_path(run).c_str(), &info) == 0 ? info.st_ino : 0;
}

}  // namespace aft::session

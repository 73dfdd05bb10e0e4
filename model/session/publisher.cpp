// What the window sees of the trainer: status, curves, stored moments, weights. Costs are measured
// and kept under 2 % of the time.
#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "model/decode/input.h"
#include "model/session/trainer_state.h"
#include "model/tasks/task.h"
#include "model/train/run_state.h"

namespace aft::session {

namespace {

constexpr double kShare = 0.02;           // the most that publishing may cost
constexpr double kWeightsEvery_ms = 250;  // maps do not need to move faster
constexpr double kCurvesEvery_ms = 100, kStatusEvery_ms = 30;

double ms_between(Clock::time_point from, Clock::time_point to) {
    return std::chrono::duration<double, std::milli>(to - from).count();
}

bool is_due(const Pace& pace, double every_ms) {
    const double wait = std::max(every_ms, pace.cost_ms / kShare);
    return ms_between(pace.last, Clock::now()) >= wait;
}

template <class Work>
void paced(Pace& pace, int64_t step, const Work& work) {
    const auto start = Clock::now();
    work();
    pace.last = Clock::now();
    // One that another program held up does not count in full, or the next would come much later.
    pace.took_ms = ms_between(start, pace.last);
    constexpr double kFloor_ms = 1;
    const double before = std::max(pace.cost_ms, kFloor_ms);
    pace.cost_ms = pace.step >= 0 ? std::min(pace.took_ms, 2 * before) : pace.took_ms;
    pace.step = step;
}

void set_layers(Live& live, const Checkpoint& checkpoint) {
    live.status.layers.assign(static_cast<size_t>(checkpoint.config.model.layers), {});
    live.status.parameters = 0;
    for (const auto& [name, value] : checkpoint.weights) {
        live.status.parameters += value.numel();
        if (!name.starts_with("blocks.")) continue;
        const auto layer = static_cast<size_t>(std::stoll(name.substr(7)));
        if (layer < live.status.layers.size())
            live.status.layers[layer].parameters += value.numel();
    }
}

void set_metrics(Live& live, const std::map<std::string, double>& values) {
    Status& status = live.status;
    const TaskTraits& task = task_traits(live.config.model);
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

std::string event_text(const nlohmann::json& detail) {
    if (detail.is_string()) return detail.get<std::string>();
    if (detail.is_object() && detail.contains("text") && detail["text"].is_string())
        return detail["text"].get<std::string>();
    return detail.is_null() ? "" : detail.dump();
}

}  // namespace

void describe_model(Live& live, const Checkpoint& checkpoint) {
    Status& status = live.status;
    status.config = live.config;
    status.name = live.config.name;
    status.step = checkpoint.step;
    status.target_step = std::max(live.config.train.steps, checkpoint.step);
    status.mixer = mixer_traits(live.config.model);
    status.task = task_traits(live.config.model);
    status.metric_words = status.task.metric_words;
    status.tokens = live.config.model.tokens();
    status.grid_height = live.config.model.grid_height();
    status.grid_width = live.config.model.grid_width();
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
    set_layers(live, checkpoint);
    set_metrics(live, numbers(checkpoint.metrics));
}

bool read_metrics_rows(Live& live, Shared& shared) {
    bool has_grown = false;
    while (read_rows(live.run, live.metrics_offset, live.curves)) {
        has_grown = true;
        publish_curves(live, shared, false);
    }
    if (!has_grown) return false;
    std::map<std::string, double> values;
    for (const auto& [key, column] : live.curves.columns)
        if (const double value = last_value(live.curves, key); !std::isnan(value))
            values[key] = value;
    set_metrics(live, values);
    return true;
}

void add_report(Live& live, const StepReport& report) {
    Status& status = live.status;
    const auto ease = [](double old, double value) {
        return old > 0 ? 0.9 * old + 0.1 * value : value;
    };
    const auto now = Clock::now();
    live.step_gap_s = ease(live.step_gap_s, ms_between(live.last_step_time, now) / 1000);
    live.last_step_time = now;
    status.step = report.step;
    if (report.timing.contains("step_ms")) {
        status.step_ms = ease(status.step_ms, report.timing.at("step_ms"));
        status.memory_bytes = static_cast<int64_t>(report.timing.at("memory_bytes"));
    }
    status.steps_per_s = live.step_gap_s > 0 ? 1 / live.step_gap_s : 0;
    status.examples_per_s = status.steps_per_s * static_cast<double>(live.config.train.batch);
    const auto left = static_cast<double>(status.target_step - status.step);
    status.eta_s = status.steps_per_s > 0 ? std::max(left, 0.0) / status.steps_per_s : 0;
    set_metrics(live, report.values);
    std::map<std::string, double> row = report.values;
    for (const auto& [key, value] : report.timing) row["timing." + key] = value;
    if (report.step % std::max<int64_t>(live.config.train.log_every, 1) == 0 ||
        row.contains("validation.loss") || report.error)
        add_row(live.curves, report.step, row);
}

void add_events(Live& live) {
    live.curves.events.clear();
    for (const nlohmann::json& line : read_events(live.run)) {
        Event event;
        event.step = line.value("step", int64_t{0});
        event.kind = line.value("kind", std::string());
        if (line.contains("detail")) event.text = event_text(line["detail"]);
        live.curves.events.push_back(std::move(event));
    }
    ++live.curves.version;
}

void add_event(Live& live, const std::string& kind, const std::string& text) {
    live.curves.events.push_back({live.status.step, kind, text});
    ++live.curves.version;
    if (live.folder) live.folder->event(kind, live.status.step, {{"text", text}});
}

void read_logs(Live& live, Shared& shared) {
    const uint64_t version = live.curves.version;
    live.curves = {};
    live.curves.version = version + 1;
    live.metrics_offset = 0;
    read_metrics_rows(live, shared);
    add_events(live);
}

void note_target(Live& live) {
    if (live.folder &&
        keep_target(*live.folder, live.config, live.status.step, live.status.target_step))
        add_events(live);
}

void publish_status(Live& live, Shared& shared) {
    if (live.status.state == RunState::running && !is_due(live.status_pace, kStatusEvery_ms))
        return;
    paced(live.status_pace, live.status.step, [&] {
        live.status.config = live.config;
        shared.status.publish(std::make_shared<const Status>(live.status));
    });
    shared.wake();
}

void publish_curves(Live& live, Shared& shared, bool at_once) {
    const auto latest = shared.curves.latest();
    if (latest && latest->version == live.curves.version) return;
    if (!at_once && !is_due(live.curves_pace, kCurvesEvery_ms)) return;
    paced(live.curves_pace, live.status.step,
          [&] { shared.curves.publish(std::make_shared<const Curves>(live.curves)); });
    shared.wake();
}

void publish_moments(Live& live, Shared& shared) {
    Moments moments;
    moments.valid_since = live.valid_since;
    if (!live.run.empty() && is_run_folder(live.run)) {
        moments.run = live.run;
        const std::filesystem::path history = std::filesystem::path(live.run) / "history";
        moments.steps = history_steps(history);
        moments.saved = checkpoint_steps(live.run);
        for (const int64_t step : moments.steps) watch_file(live, history_path(history, step));
        for (const int64_t step : moments.saved) watch_file(live, checkpoint_path(live.run, step));
        moments.steps.insert(moments.steps.end(), moments.saved.begin(), moments.saved.end());
        std::sort(moments.steps.begin(), moments.steps.end());
        moments.steps.erase(std::unique(moments.steps.begin(), moments.steps.end()),
                            moments.steps.end());
    }
    shared.moments.publish(std::make_shared<const Moments>(std::move(moments)));
}

void publish_checkpoint(Live& live, Shared& shared, std::shared_ptr<const Checkpoint> checkpoint) {
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->step = checkpoint->step;
    snapshot->checkpoint = std::move(checkpoint);
    snapshot->stamp = ++live.stamp;
    shared.snapshot.publish(std::move(snapshot));
    shared.wake();
}

void publish_weights(Live& live, Shared& shared, bool due) {
    if (!live.trainer) return;
    const int64_t step = live.trainer->steps_done();
    if (step == live.snapshot_pace.step) return;
    if (due && (step - live.snapshot_pace.step < live.config.train.publish_every ||
                !is_due(live.snapshot_pace, kWeightsEvery_ms)))
        return;
    paced(live.snapshot_pace, step, [&] {
        publish_checkpoint(live, shared,
                           std::make_shared<const Checkpoint>(live.trainer->checkpoint(false)));
    });
    live.status.publish_ms = live.snapshot_pace.took_ms;
}

}  // namespace aft::session

#include "model/jobs/summary.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/caught.h"
#include "core/clock.h"
#include "core/data_spec.h"
#include "core/progress.h"
#include "model/checkpoints/checkpoint.h"
#include "model/checkpoints/run_paths.h"
#include "model/metrics.h"
#include "model/model_files.h"
#include "model/probe/thumbnail.h"
#include "model/train/history.h"
#include "model/train/run_folder.h"
#include "model/train/run_lock.h"
#include "model/train/run_state.h"

namespace aft {
namespace {

namespace fs = std::filesystem;
std::string what_words(const ModelConfig& model, const std::string& source) {
    const std::string room = split_data_spec(source).room;
    return (room.empty() ? "" : room + ", ") + mixer_traits(model).words +
           fmt::format(", {} layer{}", model.layers, model.layers == 1 ? "" : "s");
}

std::string metric_key(const std::string& part, const TaskTraits& task) {
    return part == "training" ? task.metric : part + "." + task.metric;
}

// The measure of the validation data where there is one, else that of training; named.
void take_metric(const std::map<std::string, double>& newest, const TaskTraits& task,
                 RunSummary& summary) {
    for (const std::string part : {"training", "validation"}) {
        const auto found = newest.find(metric_key(part, task));
        if (found == newest.end() || std::isnan(found->second)) continue;
        summary.metric = found->second;
        summary.metric_words = part + " " + task.metric_words;
    }
}

void read_log(const fs::path& run, const TaskTraits& task, const std::stop_token& stop,
              RunSummary& summary) {
    uint64_t offset = 0;
    Curves curves;
    while (read_rows(run, offset, curves))
        if (stop.stop_requested()) throw Interrupted();
    if (!curves.step.empty()) summary.step = std::llround(curves.step.back());
    std::map<std::string, double> newest;
    for (const std::string& key : {metric_key("training", task), metric_key("validation", task)})
        newest[key] = last_value(curves, key);
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

// Of the newest frame of the history; of maps alone, whose config knows no shapes, of the newest
// checkpoint.
Field newest_thumbnail(const fs::path& run, const ModelConfig& model) {
    if (!task_traits(model).is_bias_alone)
        return bias_thumbnail(
            model, read_history(history_folder(run), std::numeric_limits<int64_t>::max()));
    if (checkpoint_steps(run).empty()) return {};
    const Checkpoint checkpoint = read_checkpoint(run);
    return bias_thumbnail(checkpoint.config.model, checkpoint.weights);
}

void summarize_folder(const fs::path& run, const std::stop_token& stop, RunSummary& summary) {
    const Config config = load_run_config(config_path(run).string());
    fill_from_config(config, summary);
    read_log(run, task_traits(config.model), stop, summary);
    // With train.log_every > 1 the last step need not be logged, but it is saved.
    if (const auto saved = checkpoint_steps(run); !saved.empty())
        summary.step = std::max(summary.step, saved.back());
    summary.changed = unix_seconds(
        fs::last_write_time(fs::exists(metrics_path(run)) ? metrics_path(run) : config_path(run)));
    const auto events = read_events(run);
    summary.target_step = asked_steps(events, config);
    if (!summary.task.is_trainable())  // nothing says for how long it trains
        summary.target_step = std::max(summary.target_step, summary.step);
    summary.state = is_in_error(events, summary.step)     ? "failed"
                    : is_run_locked(run)                  ? "running"
                    : summary.step >= summary.target_step ? "finished"
                                                          : "paused";
    summary.thumbnail = newest_thumbnail(run, config.model);
}

void summarize_file(const fs::path& file, RunSummary& summary) {
    const Checkpoint checkpoint = read_checkpoint(file);
    fill_from_config(checkpoint.config, summary);
    summary.state = "model";
    summary.step = checkpoint.step;
    summary.changed = unix_seconds(fs::last_write_time(file));
    take_metric(metric_values(checkpoint), task_traits(checkpoint.config.model), summary);
    summary.thumbnail = bias_thumbnail(checkpoint.config.model, checkpoint.weights);
}

}  // namespace

std::vector<std::string> runs_here(size_t most, const std::stop_token& stop) {
    std::vector<std::pair<int64_t, std::string>> found;
    std::error_code error;
    for (fs::directory_iterator it("runs", error), end; !error && it != end; it.increment(error)) {
        if (stop.stop_requested()) break;
        if (!is_run_folder(it->path())) continue;
        std::error_code gone;
        const auto time = fs::last_write_time(config_path(it->path()), gone);
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
        static_cast<void>(load_run_config(config_path(path).string()));
        const std::vector<int64_t> steps = checkpoint_steps(path);
        if (steps.empty()) return;  // a training that has not saved yet
        // A damaged one hides none of those before it.
        for (size_t i = steps.size(); i-- > 0;)
            if (!caught([&] { check_checkpoint(checkpoint_path(path, steps[i])); })) return;
        return check_checkpoint(checkpoint_path(path, steps.back()));
    }
    check_checkpoint(path);
}

std::string run_of_step(const std::string& path) {
    const fs::path file(path);
    const bool is_step =
        file.extension() == ".safetensors" && file.stem().string().starts_with("step-");
    return is_step ? run_of_saved(file).string() : "";
}

std::string run_begun_from(const std::string& path) {
    std::string run = run_of_step(path);
    if (run.empty())
        static_cast<void>(
            error_words([&] { run = run_of_step(branched_from(read_events(path))); }));
    return run;
}

std::string shown_name(const std::string& path) {
    fs::path where(path);
    if (where.filename() == "") where = where.parent_path();
    // A folder's name may have dots: "lr=0.001,seed=1".
    const std::string name =
        is_checkpoint_file(path) ? where.stem().string() : where.filename().string();
    const auto number = [&](std::string_view before) {  // "step-00000050" -> "50"
        const size_t first = name.find_first_not_of('0', before.size());
        return first == std::string::npos ? "0" : name.substr(first);
    };
    if (const std::string run = run_of_step(path); !run.empty())
        return shown_name(run) + ", step " + number("step-");
    if (const fs::path run = run_of_branch(where); !run.empty() && name.starts_with("until-"))
        return shown_name(run.string()) + ", until step " + number("until-");
    return name;
}

RunSummary summarize_run(const std::string& path, const std::stop_token& stop) {
    RunSummary summary;
    summary.path = path;
    summary.metric = std::numeric_limits<double>::quiet_NaN();
    const fs::path where(path);
    summary.name = shown_name(path);
    summary.error = error_words([&] {
        AFT_CHECK(fs::exists(where), "{}: no longer there", path);
        if (is_run_folder(where))
            summarize_folder(where, stop, summary);
        else
            summarize_file(where, summary);
    });
    return summary;
}

}  // namespace aft

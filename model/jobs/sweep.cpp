#include "model/jobs/sweep.h"

#include <cmath>
#include <limits>

#include "core/caught.h"
#include "core/check.h"
#include "core/files.h"
#include "model/checkpoints/run_paths.h"
#include "model/jobs/eval.h"
#include "model/jobs/sweep_store.h"
#include "model/jobs/train.h"
#include "model/train/run_folder.h"
#include "model/train/run_lock.h"

namespace aft {
namespace {

// Below this a disk is too full for the next save.
constexpr uintmax_t kLeastRoom = uintmax_t{32} << 20;

struct Sweep {
    const SweepRequest& request;
    const JobControl& control;
    const SweepPublish& publish;
    SweepResult result;
};

SweepSummary summary_of(const std::vector<double>& values) {
    SweepSummary summary{.n = static_cast<int64_t>(values.size())};
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    summary.mean = summary.least = summary.most = values.empty() ? kNone : values[0];
    summary.deviation = summary.error = kNone;
    if (values.empty()) return summary;
    double sum = 0, squares = 0;
    for (const double value : values) {
        sum += value;
        summary.least = std::min(summary.least, value);
        summary.most = std::max(summary.most, value);
    }
    const auto n = static_cast<double>(values.size());
    summary.mean = sum / n;
    if (values.size() < 2) return summary;
    for (const double value : values) squares += std::pow(value - summary.mean, 2);
    summary.deviation = std::sqrt(squares / (n - 1));
    summary.error = summary.deviation / std::sqrt(n);
    return summary;
}

void summarize(SweepResult& result) {
    std::vector<std::vector<double>> values(result.plan.points.size());
    for (const SweepRun& run : result.runs)
        if (run.state == SweepState::done) values[run.point].push_back(run.metric_value);
    result.summaries.clear();
    for (const auto& of_point : values) result.summaries.push_back(summary_of(of_point));
}

// Progress of one run as a part of the sweep's.
JobControl control_of(const Sweep& sweep, size_t place, const SweepRun& run) {
    const std::string words =
        fmt::format("run {} of {}, {}, seed {}: ", place + 1, sweep.result.runs.size(),
                    sweep.result.plan.points[run.point].name, run.seed);
    return {.report =
                [&sweep, words](const Progress& progress) {
                    sweep.control.report({.done = progress.done,
                                          .total = progress.total,
                                          .what = words + progress.what});
                },
            .stop = sweep.control.stop};
}

// Fresh, or on from its last save. A folder that a kill left before the first one begins anew.
TrainRequest training_of(const Sweep& sweep, const SweepRun& run) {
    TrainRequest training;
    training.device = sweep.request.device;
    std::error_code unknown;
    if (!checkpoint_steps(run.folder).empty()) {
        training.resume = run.folder;
        return training;
    }
    fs::remove_all(run.folder, unknown);
    training.out = run.folder;
    training.config =
        sweep_config(sweep.result.plan, sweep.result.plan.points[run.point], run.seed);
    return training;
}

void measure(Sweep& sweep, SweepRun& run, const TrainResult& trained, const JobControl& control) {
    const SweepPlan& plan = sweep.result.plan;
    const Config config = sweep_config(plan, plan.points[run.point], run.seed);
    const EvalResult measured = eval_job({.model = trained.checkpoint,
                                          .data = config.data.source,
                                          .split = plan.split,
                                          .device = sweep.request.device,
                                          .limit = plan.limit},
                                         control);
    sweep.result.split = measured.split;
    run.parameters = measured.cost.parameters;
    run.loss_nats = measured.loss_nats;
    run.metric_value = measured.metric_value;
    run.examples = measured.examples;
}

void train_and_measure(Sweep& sweep, size_t place) {
    SweepRun& run = sweep.result.runs[place];
    const JobControl control = control_of(sweep, place, run);
    const TrainResult trained = train_job(training_of(sweep, run), control);
    run.seconds += trained.seconds;
    run.step = trained.step;
    if (trained.interrupted) return;  // saved, and open
    const auto loss = trained.metrics.find("loss");
    run.train_loss =
        loss != trained.metrics.end() ? loss->second : std::numeric_limits<double>::quiet_NaN();
    measure(sweep, run, trained, control);
    run.state = SweepState::done;
    store_run(run);
}

void check_room(const fs::path& out) {
    std::error_code unknown;
    const auto room = fs::space(out, unknown);
    if (!unknown && room.available < kLeastRoom)
        fail("{}: the disk is full ({} bytes are free); free some, then --resume continues",
             out.string(), room.available);
}

// False: stopped.
bool run_one(Sweep& sweep, size_t place) {
    SweepRun& run = sweep.result.runs[place];
    run.error = error_words([&] { train_and_measure(sweep, place); });
    if (run.state != SweepState::done && sweep.control.stop.stop_requested()) {
        run.error.clear();
        return false;
    }
    if (run.error.empty()) return true;
    run.state = SweepState::failed;
    check_room(sweep.result.out);
    // A run without a folder has no place to say so: the tables do.
    std::error_code unknown;
    if (fs::is_directory(run.folder, unknown)) store_run(run);
    return true;
}

SweepResult started(const SweepRequest& request) {
    SweepResult result{.plan = read_sweep(request)};
    if (request.resume && request.out.empty())
        fail_usage("sweep: --resume needs --out, the folder of the sweep");
    const fs::path out =
        request.out.empty() ? new_run_path(result.plan.name) : fs::path(request.out);
    open_sweep_folder(out, result.plan, request.resume);
    result.out = out.string();
    for (size_t point = 0; point < result.plan.points.size(); ++point)
        for (const int64_t seed : result.plan.seeds) {
            const std::string name =
                fmt::format("{},seed={}", result.plan.points[point].name, seed);
            result.runs.push_back({.point = point, .seed = seed, .folder = (out / name).string()});
        }
    return result;
}

// The metric's name and words, before the first run is measured.
void note_task(SweepResult& result) {
    const TaskTraits& task = task_traits(result.plan.base.model);
    result.metric = task.metric;
    result.metric_words = task.metric_words;
    result.split = result.plan.split;
}

}  // namespace

int64_t SweepResult::count(SweepState state) const {
    int64_t n = 0;
    for (const SweepRun& run : runs) n += run.state == state ? 1 : 0;
    return n;
}

SweepResult sweep_job(const SweepRequest& request, const JobControl& control,
                      const SweepPublish& publish) {
    Sweep sweep{request, control, publish, started(request)};
    note_task(sweep.result);
    const FileHandle lock = lock_run(sweep.result.out);
    for (SweepRun& run : sweep.result.runs) static_cast<void>(load_run(run));
    summarize(sweep.result);
    publish(sweep.result);
    for (size_t place = 0; place < sweep.result.runs.size(); ++place) {
        if (sweep.result.runs[place].state == SweepState::done) continue;
        if (control.stop.stop_requested() || !run_one(sweep, place)) break;
        summarize(sweep.result);
        publish(sweep.result);
    }
    return sweep.result;
}

}  // namespace aft

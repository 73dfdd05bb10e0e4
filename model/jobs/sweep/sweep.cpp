#include "model/jobs/sweep/sweep.h"

#include <cmath>
#include <limits>
#include <thread>

#include "core/caught.h"
#include "core/check.h"
#include "core/clock.h"
#include "core/files.h"
#include "model/checkpoints/run_paths.h"
#include "model/distributed/rank_group.h"
#include "model/jobs/eval.h"
#include "model/jobs/sweep/sweep_claims.h"
#include "model/jobs/sweep/sweep_store.h"
#include "model/jobs/train.h"
#include "model/train/run_folder.h"
#include "model/train/run_lock.h"

namespace aft {
namespace {

// Below this a disk is too full for the next save.
constexpr uintmax_t kLeastFreeSpace = uintmax_t{32} << 20;

constexpr double kStopPause = 0.2;  // seconds between two looks at what rank 0 asks
constexpr std::chrono::milliseconds kWaitForOthers{100};
constexpr int kMostWaits = 600;  // until the others have saved

struct Sweep {
    const SweepRequest& request;
    const JobControl& control;
    const SweepPublish& publish;
    SweepResult result;
    SweepClaims claims;
    std::stop_source stop{};  // of the control, or rank 0 asks for it
    std::vector<bool> is_settled = std::vector<bool>(result.runs.size());

    [[nodiscard]] bool leads() const { return !request.ranks || request.ranks->rank() == 0; }
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
JobControl control_of(Sweep& sweep, size_t place, const SweepRun& run) {
    const std::string words =
        fmt::format("run {} of {}, {}, seed {}: ", place + 1, sweep.result.runs.size(),
                    sweep.result.plan.points[run.point].name, run.seed);
    return {.report =
                [&sweep, words,
                 looked = std::chrono::steady_clock::now()](const Progress& progress) mutable {
                    if (seconds_since(looked) > kStopPause) {
                        looked = std::chrono::steady_clock::now();
                        if (sweep.claims.is_stop_asked()) sweep.stop.request_stop();
                    }
                    sweep.control.report({.done = progress.done,
                                          .total = progress.total,
                                          .what = words + progress.what});
                },
            .stop = sweep.stop.get_token()};
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
    training.from = sweep.result.plan.from;
    if (!training.from.empty())  // weights are taken by the shapes that the data need
        training.config = fit_to_data(training.config, {}, sweep.stop.get_token()).config;
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

void check_free_space(const fs::path& out) {
    std::error_code unknown;
    const auto space = fs::space(out, unknown);
    if (!unknown && space.available < kLeastFreeSpace)
        fail("{}: the disk is full ({} bytes are free); free some, then --resume continues",
             out.string(), space.available);
}

// False: stopped.
bool run_one(Sweep& sweep, size_t place) {
    SweepRun& run = sweep.result.runs[place];
    run.error = error_words([&] { train_and_measure(sweep, place); });
    if (run.state != SweepState::done && sweep.stop.stop_requested()) {
        run.error.clear();
        return false;
    }
    if (run.error.empty()) return true;
    run.state = SweepState::failed;
    check_free_space(sweep.result.out);
    // A run without a folder has no place to say so: the tables do.
    std::error_code unknown;
    if (fs::is_directory(run.folder, unknown)) store_run(run);
    return true;
}

fs::path opened_folder(const SweepRequest& request, const SweepPlan& plan) {
    if (request.resume && request.out.empty())
        fail_usage("sweep: --resume needs --out, the folder of the sweep");
    const fs::path out = request.out.empty() ? new_run_path(plan.name) : fs::path(request.out);
    open_sweep_folder(out, plan, request.resume);
    SweepClaims(out).clear();
    return out;
}

SweepResult started(const SweepRequest& request) {
    SweepResult result{.plan = read_sweep(request)};
    RankGroup* const ranks = request.ranks;
    if (ranks == nullptr || ranks->rank() == 0)
        result.out = opened_folder(request, result.plan).string();
    if (ranks != nullptr) result.out = ranks->broadcast(result.out, Patience::endless);
    if (result.out.empty()) return result;  // rank 0 could not
    for (size_t point = 0; point < result.plan.points.size(); ++point)
        for (const int64_t seed : result.plan.seeds) {
            const std::string name =
                fmt::format("{},seed={}", result.plan.points[point].name, seed);
            result.runs.push_back(
                {.point = point, .seed = seed, .folder = (fs::path(result.out) / name).string()});
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

void publish_now(Sweep& sweep) {
    if (!sweep.leads()) return;
    summarize(sweep.result);
    sweep.publish(sweep.result);
}

enum class SweepTurn { worked, elsewhere, stopped };

// One run: trained here, or found ended or at work elsewhere.
SweepTurn take_turn(Sweep& sweep, size_t place) {
    SweepRun& run = sweep.result.runs[place];
    const auto claim = sweep.claims.take(place);
    if (!claim) return SweepTurn::elsewhere;
    const bool is_done = load_run(run);
    if (is_done || claim->error) {  // by another process
        if (!is_done) {
            run.state = SweepState::failed;
            run.error = *claim->error;
        }
    } else if (!run_one(sweep, place)) {
        return SweepTurn::stopped;
    } else {
        sweep.claims.end(*claim, run.error);
    }
    sweep.is_settled[place] = true;
    publish_now(sweep);
    return SweepTurn::worked;
}

// False: nothing was to be done just now.
bool take_turns(Sweep& sweep, bool& has_others) {
    bool has_worked = false;
    for (size_t place = 0; place < sweep.result.runs.size(); ++place) {
        if (sweep.is_settled[place] || sweep.stop.stop_requested()) continue;
        const SweepTurn turn = take_turn(sweep, place);
        has_worked |= turn == SweepTurn::worked;
        has_others |= turn == SweepTurn::elsewhere;
    }
    return has_worked;
}

// Rank 0 stays until the others are done: a run whose process died is taken here.
void train_all(Sweep& sweep) {
    for (size_t place = 0; place < sweep.is_settled.size(); ++place)
        sweep.is_settled[place] = sweep.result.runs[place].state == SweepState::done;
    while (!sweep.stop.stop_requested()) {
        bool has_others = false;
        const bool has_worked = take_turns(sweep, has_others);
        if (!has_others || (!has_worked && !sweep.leads())) break;
        if (!has_worked) std::this_thread::sleep_for(kWaitForOthers);
        if (sweep.claims.is_stop_asked()) sweep.stop.request_stop();
    }
    if (!sweep.leads() || !sweep.stop.stop_requested()) return;
    sweep.claims.ask_stop();
    for (int i = 0; i < kMostWaits && !sweep.claims.are_free(sweep.result.runs.size()); ++i)
        std::this_thread::sleep_for(kWaitForOthers);
}

}  // namespace

int64_t SweepResult::count(SweepState state) const {
    int64_t n = 0;
    for (const SweepRun& run : runs) n += run.state == state ? 1 : 0;
    return n;
}

SweepResult sweep_job(const SweepRequest& request, const JobControl& control,
                      const SweepPublish& publish) {
    SweepResult begun = started(request);
    const SweepClaims claims(begun.out);
    Sweep sweep{request, control, publish, std::move(begun), claims};
    if (sweep.result.out.empty()) return sweep.result;
    const std::stop_callback stops(control.stop, [&] { sweep.stop.request_stop(); });
    const OnFailure stop_others([&] {
        if (sweep.leads()) static_cast<void>(error_words([&] { claims.ask_stop(); }));
    });
    note_task(sweep.result);
    FileHandle lock;
    if (sweep.leads()) lock = lock_run(sweep.result.out);
    for (SweepRun& run : sweep.result.runs) static_cast<void>(load_run(run));
    publish_now(sweep);
    train_all(sweep);
    if (!sweep.leads()) static_cast<void>(request.ranks->broadcast("", Patience::endless));
    return sweep.result;
}

}  // namespace aft

#include "model/jobs/train.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "core/caught.h"
#include "core/check.h"
#include "core/clock.h"
#include "core/files.h"
#include "core/folded_lines.h"
#include "core/outside.h"
#include "core/system/spin_limiter.h"
#include "core/text.h"
#include "core/warnings.h"
#include "model/checkpoints/checkpoint.h"
#include "model/checkpoints/run_paths.h"
#include "model/data/loader.h"
#include "model/device.h"
#include "model/distributed/rank_group.h"
#include "model/jobs/schedule.h"
#include "model/probe/masks.h"
#include "model/train/demand.h"
#include "model/train/loop.h"
#include "model/train/rank_worker.h"
#include "model/train/run_folder.h"
#include "model/train/run_state.h"
#include "model/train/trainer.h"
#include "model/train/warm_start.h"

namespace aft {
namespace {

using Clock = std::chrono::steady_clock;

// A trainer and its folder, fresh or resumed.
struct TrainingRun {
    std::unique_ptr<Trainer> trainer;
    std::unique_ptr<RunFolder> folder;
};

std::string warm_start_words(const WarmStart& start, const std::string& from) {
    const bool is_unlike = start.fresh.size() > start.taken.size();
    std::string words =
        fmt::format("from {}: {} parameters taken, {} start anew{}", from, start.taken.size(),
                    start.fresh.size(), is_unlike ? ": most of it, so another model" : "");
    constexpr size_t kMostLines = 12, kMostNames = 10;
    const std::vector<std::string> lines = folded_lines(start.fresh);
    for (size_t i = 0; i < std::min(lines.size(), kMostLines); ++i) words += "\n  new: " + lines[i];
    if (lines.size() > kMostLines)
        words += fmt::format("\n  new: {} more such lines", lines.size() - kMostLines);
    for (const auto& [title, names] :
         {std::pair{"resized", &start.resized}, {"cut", &start.cut}, {"not used", &start.unused}})
        if (!names->empty())
            words += fmt::format("\n  {}: {}", title, folded_names(*names, kMostNames));
    return words;
}

void check_sound(const Checkpoint& checkpoint, const std::string& from) {
    const std::vector<std::string> faults =
        probe::weight_faults(checkpoint.config.model, checkpoint.weights);
    if (faults.empty()) return;
    fail(
        "--from {}: NaN or infinity in {}: nothing can be trained from them; an earlier save of "
        "that training may be sound (--from RUN/checkpoints/step-NNNNNNNN.safetensors)",
        shown_path(from), shown_names(faults));
}

std::unique_ptr<Trainer> fresh_trainer(const TrainRequest& request, const std::stop_token& stop) {
    const at::Device device = parse_device(request.device);
    if (request.from.empty())
        return std::make_unique<Trainer>(request.config, device, request.ranks, stop);
    const WarmStart start = warm_start(request.config, request.from);
    check_sound(start.checkpoint, request.from);
    request.say(warm_start_words(start, request.from));
    return std::make_unique<Trainer>(start.checkpoint, device, request.ranks, stop);
}

TrainingRun start_fresh(const TrainRequest& request, const std::stop_token& stop) {
    TrainingRun run;
    // The trainer first: a config or data that do not fit leave no folder behind.
    run.trainer = fresh_trainer(request, stop);
    const fs::path out =
        request.out.empty() ? new_run_path(request.config.name) : fs::path(request.out);
    run.folder = std::make_unique<RunFolder>(out, run.trainer->config());
    if (!request.from.empty())
        run.folder->event("note", 0, {{"text", "started from " + request.from}});
    return run;
}

// key=value given with --resume: everything but the model may change.
// True if one of them can make training diverge.
bool apply_settings(const std::vector<std::string>& lines, Config& config) {
    bool is_risky = false;
    SettingRows rows = config.rows();
    for (const std::string& line : lines) {
        const size_t equals = line.find('=');
        if (equals == std::string::npos) fail_usage("--set '{}': expected key=value", line);
        const std::string key = line.substr(0, equals);
        if (key.starts_with("model."))
            fail_usage("--set {}: the model of a run cannot change; start a new run", key);
        set_from_text(rows, key, line.substr(equals + 1));
        is_risky = is_risky || find_setting(rows, key)->risky;
        check_read(config, {key}, "--set ");
    }
    config.check();
    return is_risky;
}

TrainingRun resume(const TrainRequest& request, const std::stop_token& stop) {
    TrainingRun run;
    const fs::path path = request.resume;
    if (!is_run_folder(path))
        fail("{}: not a run folder (no config.json in it); --resume takes a run folder",
             path.string());
    // The lock first: what another process writes meanwhile is not read, and no reason is given
    // but that it is in use.
    run.folder = std::make_unique<RunFolder>(path);
    Checkpoint checkpoint = read_checkpoint(path);
    check_whole(checkpoint, "train");
    const bool is_risky = apply_settings(request.set, checkpoint.config);
    run.trainer =
        std::make_unique<Trainer>(checkpoint, parse_device(request.device), request.ranks, stop);
    const std::string lost = run.folder->resume_from(checkpoint.step, run.trainer->config());
    if (!lost.empty()) warn_once(fmt::format("{}: {}", path.string(), lost));
    if (checkpoint.step > 0 && checkpoint.optimizer.empty())
        warn_once(fmt::format(
            "{}: step {} is stored without the optimizer's averages, as by another program: AdamW "
            "begins anew, with the rates of {}",
            path.string(), checkpoint.step, config_path(path).string()));
    if (is_risky) run.folder->keep_save(checkpoint.step, SaveKind::before_change);
    for (const std::string& change : request.set)
        run.folder->event("setting", checkpoint.step, {{"text", change}});
    return run;
}

// Steps per second over the last few seconds, so that a pause shows.
class Rate {
  public:
    double after(double seconds) {
        per_step_ = per_step_ == 0 ? seconds : 0.9 * per_step_ + 0.1 * seconds;
        return per_step_ > 0 ? 1 / per_step_ : 0;
    }

  private:
    double per_step_ = 0;
};

std::string progress_words(const StepReport& report, const TaskTraits& task, double rate) {
    const auto metric = report.values.find(task.metric);
    const double value = metric != report.values.end() ? metric->second : report.values.at("loss");
    return fmt::format("loss {:.4f}, {:.3f} {}, {:.1f} it/s", report.values.at("loss"), value,
                       task.metric_words, rate);
}

void train_until(TrainingRun& run, TrainingLoop& loop, int64_t until, const JobControl& control) {
    const TaskTraits& task = task_traits(run.trainer->config().model);
    Rate rate;
    while (run.trainer->steps_done() < until && !control.stop.stop_requested()) {
        const auto start = Clock::now();
        const StepReport report = loop.step();
        if (report.error) {  // in validation: the weights have moved and are sound
            loop.save();
            std::rethrow_exception(report.error);
        }
        if (!report.failure.empty()) {
            loop.save();  // the step was not applied: what is saved is still sound
            fail(
                "{}; stopped, saved before it in {} (a lower train.learning_rate or train.clip "
                "helps)",
                report.failure, run.folder->path().string());
        }
        if (report.stops) return;
        control.report({.done = report.step,
                        .total = until,
                        .what = progress_words(report, task, rate.after(seconds_since(start)))});
        if (!loop.stop_reason().empty()) return;
    }
}

// The run ends in this error, at the step after the last one, unless that is noted already. As well
// as it can be written: a full disk may be the reason.
void note_error(TrainingRun& run, const std::string& words) {
    const int64_t step = run.trainer->steps_done();
    static_cast<void>(error_words([&] {
        if (is_in_error(read_events(run.folder->path()), step)) return;
        run.folder->event("error", step + 1, {{"text", words}});
    }));
}

// A rank is lost, in the middle of a step: the weights are those of the step before, and so are the
// optimizer's averages, where the leader has all of them.
void save_after_loss(TrainingRun& run, TrainingLoop& loop, const RankGroup* ranks) {
    if (ranks == nullptr || !ranks->is_broken() || !loop.has_unsaved_steps()) return;
    const std::string problem = error_words([&] { loop.save(SaveKind::by_time); });
    warn_once(problem.empty()
                  ? fmt::format("a rank is lost; step {} is saved in {}", run.trainer->steps_done(),
                                run.folder->path().string())
                  : fmt::format("a rank is lost, and with it its part of the optimizer's averages "
                                "(train.shard_optimizer): the last save stands ({})",
                                problem));
}

struct TrainingEnd {
    fs::path saved{};
    std::string reason{};  // to end before the target; "" = none
};

// To the end, and saved there.
TrainingEnd train_and_save(TrainingRun& run, int64_t until, const JobControl& control,
                           const RankGroup* ranks) {
    TrainingEnd end;
    const auto error = caught([&] {
        TrainingLoop loop(*run.trainer, *run.folder);
        const int64_t first = run.trainer->steps_done();
        if (until > run.trainer->config().train.steps)
            keep_target(*run.folder, run.trainer->config(), first, until);
        const SpinLimiter where_others_run;
        const auto lost = caught([&] { train_until(run, loop, until, control); });
        if (lost) save_after_loss(run, loop, ranks);
        if (lost) std::rethrow_exception(lost);
        end.reason = loop.stop_reason();
        const int64_t step = run.trainer->steps_done();
        if (!end.reason.empty()) run.folder->event("stop", step, {{"text", end.reason}});
        if (step >= until || !end.reason.empty()) loop.log_last();
        end.saved = loop.save();
    });
    if (!error) return end;
    note_error(run, error_words([&] { std::rethrow_exception(error); }, plain_words));
    std::rethrow_exception(error);
}

// Without --steps: of a run that is resumed, the most that was asked for, unless that is set.
int64_t target_of(const TrainRequest& request, const RunFolder& folder, const Config& config) {
    const bool is_set = std::any_of(request.set.begin(), request.set.end(), [](const auto& line) {
        return line.starts_with("train.steps=");
    });
    if (request.resume.empty() || is_set) return config.train.steps;
    return asked_steps(read_events(folder.path()), config);
}

TrainResult train(const TrainRequest& request, const JobControl& control) {
    const auto start = Clock::now();
    TrainingRun run =
        request.resume.empty() ? start_fresh(request, control.stop) : resume(request, control.stop);
    const Config& config = run.trainer->config();
    const int64_t until = request.until.value_or(target_of(request, *run.folder, config));
    const int64_t first = run.trainer->steps_done();
    TrainResult result;
    result.run = run.folder->path().string();
    const TrainingEnd end = train_and_save(run, until, control, request.ranks);
    result.checkpoint = end.saved.string();
    result.step = run.trainer->steps_done();
    if (!end.reason.empty())
        request.say(fmt::format("stopped and saved at step {}: {}", result.step, end.reason));
    result.steps_done = result.step - first;
    result.target = until;
    result.ranks = request.ranks == nullptr ? 1 : request.ranks->size();
    result.metrics = metric_values(run.trainer->checkpoint(/*with_optimizer=*/false));
    result.mixer = mixer_traits(run.trainer->config().model);
    result.task = task_traits(run.trainer->config().model);
    result.peak_memory_bytes = peak_memory_bytes();
    result.seconds = seconds_since(start);
    result.interrupted = result.step < until && end.reason.empty();
    result.stop_reason = !end.reason.empty()  ? end.reason
                         : result.interrupted ? "interrupted"
                                              : "target";
    return result;
}

// Floating-point operations per second of this machine, measured in about 20 ms: those of the
// fastest product, as other programs interrupt some.
double measured_rate() {
    const c10::NoGradGuard no_grad;
    constexpr int64_t kSide = 512;
    const at::Tensor a = at::ones({kSide, kSide}), b = at::ones({kSide, kSide});
    (void)at::mm(a, b);
    const auto start = Clock::now();
    double fastest = std::numeric_limits<double>::infinity();
    while (seconds_since(start) < 0.02) {
        const auto begin = Clock::now();
        (void)at::mm(a, b);
        fastest = std::min(fastest, seconds_since(begin));
    }
    return 2.0 * std::pow(kSide, 3) / fastest;
}

}  // namespace

void serve_train_job(RankGroup& ranks, const std::string& device) {
    with_plain_errors([&] {
        const SpinLimiter where_others_run;
        serve_training(ranks, parse_device(device));
    });
}

TrainResult train_job(const TrainRequest& request, const JobControl& control) {
    if (request.until && *request.until < 0)
        fail_usage("--steps {}: must be 0 or more", *request.until);
    TrainResult result;
    with_plain_errors([&] { result = train(request, control); });
    return result;
}

ComingRates coming_rates(const TrainConfig& train, int64_t from, int64_t until) {
    constexpr int64_t kPoints = 160;
    ComingRates rates;
    const auto add = [&](int64_t step) {  // 1 = the first
        const double rate = scheduled_rate(train, step - 1);
        rates.steps.push_back(static_cast<double>(step));
        rates.rates.push_back(rate);
        if (rate > rates.peak) rates.peak = rate, rates.peak_step = step;
    };
    const int64_t first = from + 1, count = until - from;
    int64_t last = 0;  // that was added
    for (int64_t i = 0; i < std::min(count, kPoints); ++i) {
        const int64_t step = count <= kPoints ? first + i : first + i * (count - 1) / (kPoints - 1);
        if (last > 0 && last < train.warmup && train.warmup < step) add(train.warmup);  // the top
        add(last = step);
    }
    return rates;
}

Estimate estimate(const Config& config) {
    Estimate result;
    with_plain_errors([&] {
        const Demand demand = training_demand(config);
        static const double rate = measured_rate();
        result.parameters = static_cast<int64_t>(demand.parameters);
        result.weights_bytes = static_cast<int64_t>(demand.weights_bytes);
        result.activations_bytes = static_cast<int64_t>(demand.activations_bytes);
        result.training_bytes = static_cast<int64_t>(demand.training_bytes);
        result.seconds = static_cast<double>(config.train.steps) * demand.step_operations / rate;
        result.words =
            fmt::format("{} parameters, about {} of memory", group_thousands(result.parameters),
                        byte_size(demand.training_bytes));
        // A few steps take less than the start, the first step and the last save.
        constexpr int64_t kFewSteps = 50;
        if (config.train.steps >= kFewSteps)
            result.words +=
                fmt::format(", very roughly {} for {} steps on {} threads",
                            duration(result.seconds), config.train.steps, at::get_num_threads());
    });
    return result;
}

}  // namespace aft

#include "bench/training.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>

#include "bench/calibrate.h"
#include "bench/decoding.h"
#include "bench/statistics.h"
#include "model/train/trainer.h"

namespace aft::bench {
namespace {

using nlohmann::json;
using std::chrono::steady_clock;

struct Runner {
    TrainForm form;
    std::unique_ptr<Trainer> trainer;
    double first_loss = 0;
    int64_t parameters = 0;
    std::vector<double> times = {};  // seconds a step
};

double time_step(Runner& runner) {
    const auto begin = steady_clock::now();
    const StepReport report = runner.trainer->step();
    const std::chrono::duration<double> time = steady_clock::now() - begin;
    if (!report.failure.empty()) fail("bench: {}: {}", runner.form.name, report.failure);
    if (report.step == 1) runner.first_loss = report.values.at("loss");
    return time.count();
}

Runner prepared(const TrainForm& form) {
    Config config = form.config;
    config.train.steps = 1000000;
    config.train.warmup = 1000;
    config.train.validate_every = 0;
    config.check();
    Runner runner{form, std::make_unique<Trainer>(config, at::kCPU)};
    for (const Parameter& one : runner.trainer->net().parameters())
        runner.parameters += one.value.numel();
    return runner;
}

json runner_json(const Runner& runner, const Runner& ours, bool ratios) {
    const Summary time = summarize(runner.times);
    const auto batch = static_cast<double>(runner.form.config.train.batch);
    json out{{"name", runner.form.name},        {"ours", runner.form.ours},
             {"parameters", runner.parameters}, {"loss", number(runner.first_loss)},
             {"rounds", runner.times.size()},   {"least_ms", time.least * 1e3},
             {"median_ms", time.median * 1e3},  {"examples_per_second", batch / time.median}};
    if (!ratios || runner.form.ours) return out;
    const Ratio over = ratio(runner.times, ours.times);
    out["ratio"] = over.of_medians;
    out["ratio_low"] = over.low;
    out["ratio_high"] = over.high;
    return out;
}

json accept_json(const TrainCase& one, const json& contestants, bool is_quiet) {
    double least = INFINITY;
    for (const json& peer : contestants)
        if (peer.contains("ratio")) least = std::min(least, peer["ratio"].get<double>());
    if (one.least_ratio == 0 || std::isinf(least)) return json::array();
    return {{{"words", fmt::format("at least {}x over the best peer (found {:.2f}x)",
                                   one.least_ratio, least)},
             {"state", !is_quiet                  ? "not judged"
                       : least >= one.least_ratio ? "met"
                                                  : "missed"}}};
}

}  // namespace

Config pixel_config(const std::string& mixer, bool quick) {
    Config config;
    config.name = "bench";
    config.model = decode_model(mixer, quick);
    config.model.layers = 2;
    config.model.levels = 256;
    config.data.source = quick ? "shapes?size=8" : "shapes?size=32";
    config.train.batch = 1;
    return config;
}

json train_race(const TrainCase& one, const Settings& settings, const JobControl& control) {
    std::vector<Runner> runners;
    for (const TrainForm& form : one.forms) runners.push_back(prepared(form));
    for (Runner& runner : runners)  // warm-up
        for (int i = 0; i < 2; ++i) static_cast<void>(time_step(runner));
    const Rates before = calibrate(settings.quick);
    const Neighbours neighbours;
    for (int64_t round = 0; round < settings.rounds; ++round)
        for (Runner& runner : runners) {
            if (control.stop.stop_requested()) throw Interrupted();
            runner.times.push_back(time_step(runner));
        }
    const double others = neighbours.share();
    const Rates after = calibrate(settings.quick);
    const double moved = drift(before.gemm_fp32, after.gemm_fp32);
    json contestants = json::array();
    for (const Runner& runner : runners)
        contestants.push_back(runner_json(runner, runners[0], moved <= kAllowedDrift));
    const bool is_quiet = moved <= kAllowedDrift && others <= kContended && !settings.quick;
    return {{"kind", "train"},
            {"case", one.name},
            {"contestants", contestants},
            {"gemm_fp32_gflops", before.gemm_fp32 * 1e-9},
            {"drift", number(moved)},
            {"others", others},
            {"contended", others > kContended},
            {"accept", accept_json(one, contestants, is_quiet)}};
}

}  // namespace aft::bench

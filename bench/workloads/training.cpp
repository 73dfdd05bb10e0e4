#include "bench/workloads/training.h"

#include <chrono>
#include <memory>

#include "bench/timing/rounds.h"
#include "bench/workloads/decoding.h"
#include "bench/workloads/einsum_mixer.h"
#include "model/train/trainer.h"

namespace aft::bench {
namespace {

using nlohmann::json;
using std::chrono::steady_clock;

struct TrainingRunner {
    TrainForm form;
    StepErrors errors;
    std::unique_ptr<Trainer> trainer;
};

double time_step(TrainingRunner& runner) {
    const auto begin = steady_clock::now();
    const StepReport report = runner.trainer->step();
    const std::chrono::duration<double> time = steady_clock::now() - begin;
    if (!report.failure.empty()) fail("bench: {}: {}", runner.form.name, report.failure);
    return time.count();
}

TrainingRunner prepared(const TrainForm& form) {
    Config config = form.config;
    config.train.steps = 1000000;
    config.train.warmup = 1000;
    config.train.validate_every = 0;
    config.check();
    return {form, first_step_errors(config, truth_of(config.model)),
            std::make_unique<Trainer>(config, at::kCPU)};
}

json described(const TrainingRunner& runner) {
    return {{"name", runner.form.name},
            {"group", runner.form.group},
            {"precision", runner.form.config.train.precision},
            {"ours", runner.form.group == "ours"},
            {"parameters", parameter_count(runner.trainer->net().parameters())},
            {"loss", number(runner.errors.loss)},
            {"error", number(runner.errors.error)},
            {"gradient_error", number(runner.errors.gradients)}};
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

std::string step_words(const Config& config) {
    const int64_t batch = config.train.batch;
    return fmt::format("{}, T={}, {} {}{} a step", size_words(config.model), config.model.tokens(),
                       batch, task_traits(config.model).is_text() ? "text" : "picture",
                       batch == 1 ? "" : "s");
}

std::vector<TrainForm> against_baselines(const Config& ours, const Config& softmax) {
    std::vector<TrainForm> forms{{"afterimage", "ours", ours}};
    if (mixer_traits(ours.model).bias == BiasLayout::band) {
        add_einsum_mixer();
        forms.push_back({"the same net with einsum AFT", "einsum", ours});
        forms.back().config.model.mixer = kEinsumMixer;
    }
    forms.push_back({"the same net with softmax attention", "attention", softmax});
    return forms;
}

json race_nets(const NetRace& race, const BenchSettings& settings, const JobControl& control) {
    const Conditions conditions = measure(race.turns, {.by_bytes = false}, settings, control);
    const Turn* const first = conditions.has_ratios() ? race.turns.data() : nullptr;
    json contestants = json::array(), accept = json::array();
    for (size_t i = 0; i < race.turns.size(); ++i) {
        const TrainForm& form = race.one.forms[i];
        json about = race.about[i];
        add_times(about, race.turns[i], first, {});
        if (about.contains("ratio")) about["over"] = race.one.forms[0].name;
        const auto batch = static_cast<double>(form.config.train.batch);
        about["examples_per_second"] = 1e3 * batch / about["median_ms"].get<double>();
        contestants.push_back(about);
    }
    add_ratio_verdicts(accept, race.one.accept, contestants, conditions.is_judged());
    json row{{"kind", race.kind}, {"contestants", contestants}, {"accept", accept}};
    row.update(conditions_json(conditions));
    return row;
}

json train_race(const TrainCase& one, const BenchSettings& settings, const JobControl& control) {
    std::vector<TrainingRunner> runners;
    for (const TrainForm& form : one.forms) {
        if (control.stop.stop_requested()) throw Interrupted();
        runners.push_back(prepared(form));
    }
    std::vector<Turn> turns;
    for (TrainingRunner& runner : runners)
        turns.push_back({.round = [&runner] { return time_step(runner); },
                         .ours = runner.form.group == "ours"});
    std::vector<json> about;
    for (const TrainingRunner& runner : runners) about.push_back(described(runner));
    return race_nets({"train", one, turns, about}, settings, control);
}

}  // namespace aft::bench

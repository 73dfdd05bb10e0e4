// afterimage train: trains without a window.
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "app/cli/options.h"
#include "app/cli/output.h"
#include "app/cli/ranks.h"
#include "app/cli/results_json.h"
#include "app/cli/work.h"
#include "app/commands/rooms.h"
#include "core/check.h"
#include "core/data_spec.h"
#include "core/outside.h"
#include "core/text.h"
#include "model/jobs/train.h"

namespace aft::app {
namespace {

struct TrainFlags {
    std::string preset, config, resume, from, data, out;
    std::string until_loss, until_validation, until_minutes;
    std::vector<std::string> set;
    std::optional<int64_t> steps, seed;
    bool print_config = false, json = false;
    RankFlags ranks;
};

// The settings that the flags add to the preset, file or run, in the order in which they count.
std::vector<std::string> assignments(const TrainFlags& flags) {
    std::vector<std::string> all = flags.set;
    if (!flags.data.empty()) all.push_back("data.source=" + flags.data);
    if (flags.seed) all.push_back(fmt::format("train.seed={}", *flags.seed));
    const auto add = [&](const char* key, const std::string& value) {
        if (!value.empty()) all.push_back(fmt::format("train.{}={}", key, value));
    };
    add("until_loss", flags.until_loss);
    add("until_validation", flags.until_validation);
    add("until_minutes", flags.until_minutes);
    return all;
}

void check_origin(const TrainFlags& flags) {
    const int given = (flags.preset.empty() ? 0 : 1) + (flags.config.empty() ? 0 : 1) +
                      (flags.resume.empty() ? 0 : 1);
    if (given > 1 || (given == 0 && flags.from.empty())) {
        fail_usage(
            "train: needs one of --preset NAME, --config FILE, --resume RUNDIR, or --from MODEL "
            "with its own settings, found {}; presets: afterimage list presets",
            given == 0 ? "none" : "several");
    }
    if (!flags.resume.empty() && !flags.from.empty()) {
        fail_usage("--from: a resumed run has its own weights; leave out --from or --resume");
    }
    if (!flags.resume.empty() && !flags.out.empty()) {
        fail_usage("--out: a resumed run stays in its folder; leave out --out or --resume");
    }
}

std::vector<std::string> given_keys(const TrainFlags& flags) {
    std::vector<std::string> keys;
    for (const std::string& text : assignments(flags))
        keys.push_back(parse_assignment("--set", text).first);
    return keys;
}

// Options of data that settings of the model say: the user's, not the preset's, are meant.
std::set<std::string> options_set(const TrainFlags& flags) {
    const std::map<std::string, std::string> options = {{"model.height", "size"},
                                                        {"model.width", "size"},
                                                        {"model.levels", "levels"},
                                                        {"model.channels", "gray"}};
    std::set<std::string> out;
    for (const std::string& key : given_keys(flags))
        if (const auto found = options.find(key); found != options.end()) out.insert(found->second);
    return out;
}

// The run continues a model with its own settings.
bool is_from_alone(const TrainFlags& flags) {
    return flags.preset.empty() && flags.config.empty() && flags.resume.empty();
}

Config config_of(const TrainFlags& flags) {
    ModelSettings own;
    if (is_from_alone(flags)) own = settings_of_model(flags.from);
    Config config = !flags.preset.empty()   ? load_preset(flags.preset)
                    : !flags.config.empty() ? load_config_file(flags.config)
                                            : own.config;
    const std::string usual = config.data.source;
    SettingRows rows = config.rows();
    for (const std::string& text : assignments(flags)) {
        const auto [key, value] = parse_assignment("--set", text);
        set_from_text(rows, key, value);
    }
    if (!flags.data.empty())
        config.data.source = with_usual_options(flags.data, usual, options_set(flags));
    if (is_from_alone(flags)) {
        if (config.data.source.empty())
            fail_usage("--from {}: it names no data; --data SPEC does", shown_path(flags.from));
        own.config = config;
        config.data.source = data_for_model(config.data.source, own);
    }
    config.check();
    check_read(config, given_keys(flags), "--set ");
    reset_unread(config);
    return config;
}

// A resumed run that stands at its target, or past it.
void say_nothing_to_do(const TrainResult& result, const TrainFlags& flags) {
    const std::string words = fmt::format(
        "nothing to do: the run is at step {} already ({} {}); to continue, ask for more: "
        "afterimage train --resume {} --steps {}",
        result.step, flags.steps ? "--steps" : "target step", result.target,
        shell_word(flags.resume), 2 * std::max<int64_t>(1, result.step));
    if (flags.json)
        print_note(words);
    else
        print_result(words + "\n");
}

void print_outcome(const TrainResult& result, const TrainFlags& flags) {
    const bool is_idle = !flags.resume.empty() && result.steps_done == 0 && !result.interrupted;
    if (is_idle) say_nothing_to_do(result, flags);
    if (flags.json) return print_json(to_json(result));
    if (is_idle) return;
    print_result(fmt::format(
        "{} at step {} after {}, at most {} of memory\nrun: {}\ncheckpoint: {}\n",
        result.interrupted ? "stopped" : "done", result.step, duration(result.seconds),
        byte_size(static_cast<double>(result.peak_memory_bytes)), result.run, result.checkpoint));
    std::map<std::string, double> shown = result.metrics;
    std::erase_if(shown, [](const auto& metric) {  // what there is once per layer or group
        return metric.first.find('.') != std::string::npos;
    });
    if (!shown.empty()) print_words(shown);
}

// What has to be the same on all ranks.
nlohmann::json same_on_all(const TrainRequest& request) {
    return {{"settings", config_to_json(request.config)},
            {"--set", request.set},
            {"--resume", request.resume},
            {"--from", request.from},
            {"--device", request.device}};
}

int train(const TrainFlags& flags, const Globals& globals) {
    check_origin(flags);
    TrainRequest request{.config = {},
                         .out = flags.out,
                         .resume = flags.resume,
                         .from = flags.from,
                         .until = flags.steps,
                         .set = {},
                         .device = globals.device};
    if (flags.resume.empty()) {
        request.config = config_of(flags);
    } else {
        request.set = assignments(flags);
        for (const std::string& text : request.set) (void)parse_assignment("--set", text);
    }
    if (flags.print_config) {
        if (!flags.resume.empty()) {
            fail_usage(
                "--print-config: shows the settings of a --preset or --config; those of a run "
                "are in {}/config.json",
                flags.resume);
        }
        print_json(config_to_json(request.config));
        return 0;
    }
    const Ranks ranks(flags.ranks, globals, same_on_all(request));
    if (!ranks.leads()) return follow_training(ranks);
    Work work(ranks.globals());
    request.ranks = ranks.group();
    if (flags.resume.empty()) {
        std::vector<std::string> given = given_keys(flags);
        if (is_from_alone(flags))  // what it knows stays; size and classes are the data's
            given.insert(given.end(), {"model.channels", "model.levels"});
        FittedConfig fitted = fit_to_data(request.config, given, work.control().stop);
        if (!fitted.note.empty()) print_note(fitted.note);
        request.config = std::move(fitted.config);
        Config shown = request.config;
        shown.train.steps = flags.steps.value_or(shown.train.steps);
        print_note(estimate(shown).words);
    }
    request.say = print_note;
    const TrainResult result = train_job(request, work.control());
    work.finish_progress();
    print_outcome(result, flags);
    return result.interrupted ? 130 : 0;
}

CommandRun setup(CLI::App& command) {
    auto flags = std::make_shared<TrainFlags>();
    add_text(command, {"--preset", "settings by name (afterimage list presets)", "NAME"},
             flags->preset);
    add_text(command, {"--config", "settings from a JSON file", "FILE"}, flags->config);
    add_text(command, {"--resume", "resume a run, in its folder", "RUNDIR"}, flags->resume);
    add_text(command,
             {"--from",
              "weights that the new run starts from: ours or an importer's. Without --preset and "
              "--config those of a model of ours with its settings",
              "MODEL"},
             flags->from);
    add_texts(command, {"--set", "change one setting (repeatable)", "KEY=VALUE"}, flags->set);
    add_text(
        command,
        {"--data",
         "data source, as in mirror?size=16 or cifar10:DIR; options that it does not name are the "
         "preset's where both are of one kind",
         "SPEC"},
        flags->data);
    add_text(command, {"-o,--out", "run folder (default: runs/NAME-N)", "RUNDIR"}, flags->out);
    add_whole(command, {"--steps", "step to stop at, counted from the beginning"}, flags->steps);
    add_text(command,
             {"--until-loss",
              "stop and save at this training loss, smoothed, as it is shown (train.until_loss)",
              "VALUE"},
             flags->until_loss);
    add_text(
        command,
        {"--until-validation", "the same of the validation loss (train.until_validation)", "VALUE"},
        flags->until_validation);
    add_text(command, {"--until-minutes", "stop and save after so long (train.until_minutes)", "N"},
             flags->until_minutes);
    add_whole(command, {"--seed", "seed of weights, order and dropout"}, flags->seed);
    add_rank_flags(command, flags->ranks);
    add_switch(command, "--print-config", "print all settings with their values and end",
               flags->print_config);
    add_switch(command, "--json", "print one JSON object", flags->json);
    return [flags](const Globals& globals) { return train(*flags, globals); };
}

}  // namespace

CommandRoom train_command() {
    return {.info = {"train", "Trains a model without a window; Ctrl-C saves and stops."},
            .example = "afterimage train --preset demo-mirror --out runs/mirror --set train.seed=2",
            .setup = setup};
}

}  // namespace aft::app

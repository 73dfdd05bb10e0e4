// afterimage probe: what a panel shows, as numbers or as a picture.
#include <memory>
#include <nlohmann/json.hpp>

#include "app/cli/options.h"
#include "app/cli/output.h"
#include "app/cli/results_json.h"
#include "app/cli/work.h"
#include "app/commands/rooms.h"
#include "core/check.h"
#include "core/outside.h"
#include "model/jobs/probe.h"

namespace aft::app {
namespace {

struct ProbeFlags {
    ProbeJob job;
    std::optional<int64_t> head, channel, position, other, index;
    std::map<std::string, std::string> named;  // options that have a flag of their own
    std::vector<std::string> options;
    bool json = false;
};

// --reduce mean is short for --option reduce=mean; the probe checks names and values.
void collect_options(ProbeFlags& flags) {
    for (const std::string& text : flags.options) {
        const auto [key, value] = parse_assignment("--option", text);
        flags.job.options[key] = value;
    }
    for (const auto& [key, value] : flags.named)
        if (!value.empty()) flags.job.options[key] = value;
}

int probe(ProbeFlags& flags, const Globals& globals) {
    ProbeJob& job = flags.job;
    const int inputs =
        (job.image.empty() ? 0 : 1) + (job.text.empty() ? 0 : 1) + (job.data.empty() ? 0 : 1);
    if (inputs > 1) fail_usage("probe: one of --image, --text, --data is enough, found several");
    collect_options(flags);
    job.index = flags.index.value_or(0);
    job.is_row = flags.index.has_value();
    job.head = flags.head.value_or(-1);
    job.channel = flags.channel.value_or(-1);
    job.position = flags.position.value_or(0);
    // Probes of all positions take one as an option.
    if (flags.position && probe_option(job.probe, "position") != nullptr)
        job.options.emplace("position", std::to_string(*flags.position));
    job.other = flags.other.value_or(-1);
    Work work(globals);
    job.device = work.device();
    const ProbeResult result = probe_job(job, work.control());
    write_result_file(result);
    work.finish_progress();
    if (!result.not_finite.empty())
        print_note(
            fmt::format("warning: {}: NaN or infinity in {}: what is computed with them is "
                        "no number",
                        printable_line(result.model), shown_names(result.not_finite)));
    print_result(to_json(result), flags.json);
    return 0;
}

// One flag for every option of a probe that is no flag yet; its help lists probes and values.
void add_options(CLI::App& command, ProbeFlags& flags) {
    std::map<std::string, std::string> help;
    for (const ProbeInfo& probe : probe_list())
        for (const ProbeOption& option : probe.options) {
            std::string values;
            for (const std::string& value : option.values)
                values += (values.empty() ? "" : ", ") + value;
            std::string& words = help[option.key];
            words += (words.empty() ? "" : "; ") + probe.info.name + ": " +
                     (values.empty() ? "a number from 0" : values);
        }
    for (const auto& [key, words] : help) {
        const std::string flag = "--" + key;
        if (!has_flag(command, flag)) add_text(command, {flag, words, "VALUE"}, flags.named[key]);
    }
}

CommandRun setup(CLI::App& command) {
    auto flags = std::make_shared<ProbeFlags>();
    ProbeJob& job = flags->job;
    add_text(command, {"NAME", "probe (afterimage list probes)", "NAME", true}, job.probe);
    add_text(command, {"MODEL", "checkpoint or run folder", "FILE", true}, job.model);
    add_whole(command, {"--layer", "layer, from 0"}, job.layer);
    add_whole(command, {"--head", "head, from 0 (default: all)"}, flags->head);
    add_whole(command, {"--channel", "channel, from 0 (default: all)"}, flags->channel);
    add_whole(command, {"--position", "target position, from 0"}, flags->position);
    add_text(command, {"--image", "input picture", "FILE"}, job.image);
    add_text(command, {"--text", "input text", "TEXT"}, job.text);
    add_data(command, "take the input from a data source (default: the model's own)", job.data);
    add_whole(command, {"--index", "which one of the data, or the first of --limit in a row"},
              flags->index);
    add_whole(command, {"--other", "of --data: the second input (patching)"}, flags->other);
    add_options(command, *flags);
    add_texts(command, {"--option", "an option of the probe (repeatable)", "KEY=VALUE"},
              flags->options);
    add_whole(command, {"--limit", "the mean over so many examples, spread over the part", 1, 4096},
              job.limit);
    add_whole(command, {"--scale", "pixels of a .png for one of the figure", 1, 4}, job.scale);
    add_choice(command, {"--theme", "ground of a picture", {"light", "dark"}}, job.theme);
    add_text(command, {"-o,--out", "numbers or a picture: .npy, .csv, .png, .svg", "FILE", true},
             job.out);
    add_text(command,
             {"--recipe", "interventions on the model (afterimage list interventions)", "FILE"},
             job.recipe);
    add_switch(command, "--moments", "of a run: at every stored step, along a new first axis",
               job.moments);
    add_switch(command, "--json", "print one JSON object", flags->json);
    return [flags](const Globals& globals) { return probe(*flags, globals); };
}

}  // namespace

CommandRoom probe_command() {
    return {.info = {"probe", "Writes what a panel shows, as numbers or as a picture."},
            .example = "afterimage probe bias runs/mirror --layer 0 -o bias.npy",
            .setup = setup};
}

}  // namespace aft::app

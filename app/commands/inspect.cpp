// afterimage inspect: what is in a model.
#include <charconv>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/cli/cost_tables.h"
#include "app/cli/options.h"
#include "app/cli/output.h"
#include "app/cli/results_json.h"
#include "app/cli/work.h"
#include "app/commands/inspect_words.h"
#include "app/commands/rooms.h"
#include "core/check.h"
#include "core/outside.h"
#include "core/text.h"
#include "model/jobs/cost.h"
#include "model/jobs/inspect.h"

namespace aft::app {
namespace {

struct InspectFlags {
    std::string model, preset, out;
    std::vector<std::string> set, lengths;
    bool json = false, cost = false;
};

// Repeated, or with commas between them.
std::vector<int64_t> lengths_of(const InspectFlags& flags) {
    std::vector<int64_t> lengths;
    for (const std::string& list : flags.lengths)
        for (const std::string& text : split(list, ',')) {
            int64_t length = 0;
            const auto [end, error] =
                std::from_chars(text.data(), text.data() + text.size(), length);
            if (error != std::errc() || end != text.data() + text.size() || length < 1 ||
                length > kMostCostTokens)
                fail_usage("--length: found '{}'; allowed: 1 to {} tokens, several with commas",
                           shown(text), kMostCostTokens);
            lengths.push_back(length);
        }
    return lengths;
}

int inspect_cost(const InspectFlags& flags, const Config& config, const Globals& globals) {
    const std::vector<int64_t> lengths = lengths_of(flags);
    check_cost_file(flags.out);
    const Work work(globals);
    const CostResult result = cost_job(
        {.model = flags.model, .config = config, .lengths = lengths, .device = work.device()});
    if (!flags.out.empty()) write_cost_file(flags.out, result);
    if (flags.json)
        print_json(to_json(result));
    else
        print_result(cost_words(result));
    return 0;
}

int inspect(const InspectFlags& flags, const Globals& globals) {
    if (flags.model.empty() == flags.preset.empty()) {
        fail_usage("inspect: needs MODEL or --preset NAME, found {}",
                   flags.model.empty() ? "none" : "both");
    }
    if (flags.preset.empty() && !flags.set.empty()) fail_usage("--set: goes with --preset only");
    if (!flags.cost && !(flags.lengths.empty() && flags.out.empty()))
        fail_usage("{}: goes with --cost only", flags.out.empty() ? "--length" : "-o");
    Config config;
    if (!flags.preset.empty()) {
        config = load_preset(flags.preset);
        SettingRows rows = config.rows();
        for (const std::string& text : flags.set) {
            const auto [key, value] = parse_assignment("--set", text);
            set_from_text(rows, key, value);
        }
        config.check();
    }
    if (flags.cost) return inspect_cost(flags, config, globals);
    const Work work(globals);
    const InspectResult result =
        flags.preset.empty() ? inspect_job(flags.model) : inspect_preset(config);
    if (flags.json)
        print_json(to_json(result));
    else
        print_result(inspect_words(result));
    return 0;
}

CommandRun setup(CLI::App& command) {
    auto flags = std::make_shared<InspectFlags>();
    add_text(command, {"MODEL", "checkpoint or run folder", "FILE"}, flags->model);
    add_text(command, {"--preset", "settings by name instead of a model", "NAME"}, flags->preset);
    add_texts(command, {"--set", "change one setting of the preset (repeatable)", "KEY=VALUE"},
              flags->set);
    add_switch(command, "--cost",
               "parameters, FLOPs, memory and estimated times of the model, and of every mixer in "
               "its place",
               flags->cost);
    add_texts(command,
              {"--length", "--cost: tokens, repeatable or with commas (a doubling series)", "N"},
              flags->lengths);
    add_text(command, {"-o,--out", "--cost: writes a plot or a table", "FILE.svg|.png|.csv"},
             flags->out);
    add_switch(command, "--json", "print one JSON object", flags->json);
    return [flags](const Globals& globals) { return inspect(*flags, globals); };
}

}  // namespace

CommandRoom inspect_command() {
    return {
        .info =
            {"inspect",
             "Shows settings, parameters, tensors and bias statistics of a model, or its cost."},
        .example = "afterimage inspect --preset cifar10-small --json",
        .setup = setup};
}

}  // namespace aft::app

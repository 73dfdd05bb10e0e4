// afterimage inspect: what is in a model.
#include <memory>
#include <nlohmann/json.hpp>

#include "app/cli/options.h"
#include "app/cli/output.h"
#include "app/cli/results_json.h"
#include "app/cli/work.h"
#include "app/commands/inspect_words.h"
#include "app/commands/rooms.h"
#include "core/check.h"
#include "model/jobs/inspect.h"

namespace aft::app {
namespace {

struct InspectFlags {
    std::string model, preset;
    std::vector<std::string> set;
    bool json = false;
};

int inspect(const InspectFlags& flags, const Globals& globals) {
    if (flags.model.empty() == flags.preset.empty()) {
        fail_usage("inspect: needs MODEL or --preset NAME, found {}",
                   flags.model.empty() ? "none" : "both");
    }
    if (flags.preset.empty() && !flags.set.empty()) fail_usage("--set: goes with --preset only");
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
    add_switch(command, "--json", "print one JSON object", flags->json);
    return [flags](const Globals& globals) { return inspect(*flags, globals); };
}

}  // namespace

CommandRoom inspect_command() {
    return {
        .info = {"inspect", "Shows settings, parameters, tensors and bias statistics of a model."},
        .example = "afterimage inspect --preset cifar10-small --json",
        .setup = setup};
}

}  // namespace aft::app

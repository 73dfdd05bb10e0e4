// afterimage import: other people's weights.
#include <memory>
#include <nlohmann/json.hpp>

#include "app/cli/import_words.h"
#include "app/cli/options.h"
#include "app/cli/output.h"
#include "app/cli/results_json.h"
#include "app/cli/work.h"
#include "app/commands/rooms.h"
#include "core/check.h"
#include "core/outside.h"
#include "core/warnings.h"
#include "model/jobs/import.h"

namespace aft::app {
namespace {

struct ImportFlags {
    ImportRequest request;
    std::vector<std::string> set;
    std::optional<int64_t> window;
    bool json = false;
};

int import(ImportFlags& flags, const Globals& globals) {
    ImportRequest& request = flags.request;
    if (request.out.empty() && !request.dry_run)
        fail_usage("import: needs -o MODEL, or --dry-run to see what would happen");
    if (flags.window) request.set.emplace_back("model.window", std::to_string(*flags.window));
    for (const std::string& text : flags.set)
        request.set.push_back(parse_assignment("--set", text));
    const Work work(globals);
    const ImportResult result = import_job(request);
    if (!result.not_finite.empty())
        warn_once(
            fmt::format("{}: NaN or infinity in {}: what is computed with them is no number; "
                        "an earlier save of that training may be sound",
                        printable_line(result.file), shown_names(result.not_finite)));
    if (flags.json)
        print_json(to_json(result));
    else
        print_result(import_words(result, globals.verbose));
    return 0;
}

CommandRun setup(CLI::App& command) {
    auto flags = std::make_shared<ImportFlags>();
    ImportRequest& request = flags->request;
    add_text(command, {"FILE", ".safetensors, .pt or .pth", "FILE", true}, request.file);
    add_text(command, {"-o,--out", "model to write", "MODEL.safetensors"}, request.out);
    add_text(command,
             {"--as", "importer (afterimage list importers); else by the tensors' names", "NAME"},
             request.as);
    add_text(command, {"--map", "your own mapping file (docs/imports.md)", "FILE.json"},
             request.map);
    add_whole(command, {"--window", "short for --set model.window=N", 0, 1000000000},
              flags->window);
    add_texts(command, {"--set", "a setting of the model (repeatable)", "KEY=VALUE"}, flags->set);
    add_text(command,
             {"--alphabet", "models of characters: a text in which all of them occur", "FILE"},
             request.alphabet);
    add_text(command,
             {"--classes", "classifiers: a text of their classes' names, one a line", "FILE"},
             request.classes);
    add_switch(command, "--dry-run", "show the mapping (--verbose: every tensor), write nothing",
               request.dry_run);
    add_switch(command, "--json", "print one JSON object", flags->json);
    return [flags](const Globals& globals) { return import(*flags, globals); };
}

}  // namespace

CommandRoom import_command() {
    return {
        .info = {"import", "Brings other people's weights: from PyTorch files, by name tables."},
        .example = "afterimage import deit.pth -o deit.safetensors --dry-run",
        .setup = setup};
}

}  // namespace aft::app

// afterimage export: the weights of a model in a file of their own.
#include <memory>
#include <nlohmann/json.hpp>

#include "app/cli/import_words.h"
#include "app/cli/options.h"
#include "app/cli/output.h"
#include "app/cli/results_json.h"
#include "app/cli/work.h"
#include "app/commands/rooms.h"
#include "core/check.h"
#include "model/jobs/export.h"

namespace aft::app {
namespace {

struct ExportFlags {
    std::string model, out, as, map;
    bool json = false;
};

ExportResult export_as(const ExportFlags& flags) {
    if (!flags.map.empty()) return export_mapped(flags.model, flags.out, flags.map);
    const bool half = flags.as == "afterimage-half";
    if (half || flags.as.empty() || flags.as == "afterimage")
        return export_weights(flags.model, flags.out, half);
    return export_names(flags.model, flags.out, flags.as);
}

void print_export(const ExportResult& result, bool json, bool every_tensor) {
    nlohmann::json words = to_json(result);
    if (json) return print_json(words);
    words.erase("left_out");
    print_words(words);
    if (!result.left_out.empty())
        print_result(reason_words("not written", result.left_out, every_tensor));
}

CommandRun setup(CLI::App& command) {
    auto flags = std::make_shared<ExportFlags>();
    add_text(command, {"MODEL", "checkpoint or run folder", "MODEL", true}, flags->model);
    add_text(command,
             {"--as",
              "afterimage (default): float32 as they are; afterimage-half: rounded to half "
              "precision, half the size; torch: a plain state dict; or the names of an importer "
              "(afterimage list importers)",
              "NAME"},
             flags->as);
    add_text(command,
             {"--map", "your own mapping file, the other way (docs/imports.md)", "FILE.json"},
             flags->map);
    add_text(command, {"-o,--out", "file to write", "FILE.safetensors", true}, flags->out);
    add_switch(command, "--json", "print one JSON object", flags->json);
    return [flags](const Globals& globals) {
        if (!flags->as.empty() && !flags->map.empty())
            fail_usage("export: --as or --map, found both");
        const Work work(globals);
        print_export(export_as(*flags), flags->json, globals.verbose);
        return 0;
    };
}

}  // namespace

CommandRoom export_command() {
    return {.info = {"export", "Writes a model's weights alone, without the state of training."},
            .example = "afterimage export runs/mirror --as afterimage-half -o mirror.safetensors",
            .setup = setup};
}

}  // namespace aft::app

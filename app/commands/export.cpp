// afterimage export: the weights of a model in a file of their own.
#include <memory>
#include <nlohmann/json.hpp>

#include "app/cli/options.h"
#include "app/cli/output.h"
#include "app/cli/results_json.h"
#include "app/cli/work.h"
#include "app/commands/rooms.h"
#include "model/jobs/export.h"

namespace aft::app {
namespace {

struct ExportFlags {
    std::string model, out, as = "afterimage";
    bool json = false;
};

CommandRun setup(CLI::App& command) {
    auto flags = std::make_shared<ExportFlags>();
    add_text(command, {"MODEL", "checkpoint or run folder", "MODEL", true}, flags->model);
    add_text(command,
             {"--as",
              "afterimage: float32 as they are; afterimage-half: rounded to half precision, half "
              "the size; torch: a plain state dict; or the names of an importer (afterimage list "
              "importers)",
              "NAME"},
             flags->as);
    add_text(command, {"-o,--out", "file to write", "FILE.safetensors", true}, flags->out);
    add_switch(command, "--json", "print one JSON object", flags->json);
    return [flags](const Globals& globals) {
        const Work work(globals);
        const bool half = flags->as == "afterimage-half";
        const bool is_ours = half || flags->as == "afterimage";
        print_result(to_json(is_ours ? export_weights(flags->model, flags->out, half)
                                     : export_names(flags->model, flags->out, flags->as)),
                     flags->json);
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

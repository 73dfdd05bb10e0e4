// afterimage run: a model, one block or one mixer on your own tensors.
#include <memory>
#include <nlohmann/json.hpp>

#include "app/cli/options.h"
#include "app/cli/output.h"
#include "app/cli/results_json.h"
#include "app/cli/work.h"
#include "app/commands/rooms.h"
#include "core/check.h"
#include "model/jobs/run.h"

namespace aft::app {
namespace {

struct RunFlags {
    RunRequest request;
    std::optional<int64_t> layer;
    bool json = false;
};

int run(RunFlags& flags, const Globals& globals) {
    RunRequest& request = flags.request;
    if (flags.layer.has_value() != !request.part.empty()) {
        fail_usage("run: --layer N and --part mixer|block go together, found {} alone",
                   flags.layer ? "--layer" : "--part");
    }
    request.layer = flags.layer.value_or(-1);
    const Work work(globals);
    request.device = work.device();
    print_result(to_json(run_job(request)), flags.json);
    return 0;
}

CommandRun setup(CLI::App& command) {
    auto flags = std::make_shared<RunFlags>();
    RunRequest& request = flags->request;
    add_text(command, {"MODEL", "checkpoint or run folder", "FILE", true}, request.model);
    add_text(command, {"IN", "tokens, image or x", "IN.safetensors", true}, request.in);
    add_text(command, {"OUT", "logits or y", "OUT.safetensors", true}, request.out);
    add_whole(command, {"--layer", "with --part: which layer, from 0"}, flags->layer);
    add_choice(command, {"--part", "x -> y of one layer instead of the model", {"mixer", "block"}},
               request.part);
    add_switch(command, "--json", "print one JSON object", flags->json);
    return [flags](const Globals& globals) { return run(*flags, globals); };
}

}  // namespace

CommandRoom run_command() {
    return {.info = {"run", "Runs a model, one block or one mixer on your own tensors."},
            .example =
                "afterimage run runs/mirror in.safetensors out.safetensors --layer 0 --part mixer",
            .setup = setup};
}

}  // namespace aft::app

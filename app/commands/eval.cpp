// afterimage eval: how good a model is on data.
#include <memory>
#include <nlohmann/json.hpp>

#include "app/cli/options.h"
#include "app/cli/output.h"
#include "app/cli/results_json.h"
#include "app/cli/work.h"
#include "app/commands/rooms.h"
#include "model/jobs/eval.h"

namespace aft::app {
namespace {

CommandRun setup(CLI::App& command) {
    struct EvalFlags {
        EvalRequest request;
        bool json = false;
    };
    auto flags = std::make_shared<EvalFlags>();
    EvalRequest& request = flags->request;
    add_text(command, {"MODEL", "checkpoint or run folder", "FILE", true}, request.model);
    add_text(command, {"--data", "data source (?split=test chooses the part)", "SPEC", true},
             request.data);
    add_whole(command, {"--limit", "at most so many examples (0: all)"}, request.limit);
    add_whole(command, {"--stride", "text: step of overlapping windows (0: the window)"},
              request.stride);
    add_whole(command, {"--batch", "examples at once (0: as fits)", 0, 65536}, request.batch);
    add_choice(
        command,
        {"--classes",
         "exact: the data's are the model's, in their order; by-name: matched by their names",
         {"exact", "by-name"}},
        request.classes);
    add_switch(command, "--ema", "the moving average of the weights (train.ema)", request.ema);
    add_switch(command, "--json", "print one JSON object", flags->json);
    return [flags](const Globals& globals) {
        Work work(globals);
        flags->request.device = work.device();
        const EvalResult result = eval_job(flags->request, work.control());
        work.finish_progress();
        print_result(to_json(result), flags->json);
        return 0;
    };
}

}  // namespace

CommandRoom eval_command() {
    return {
        .info = {"eval", "Measures a model on data: loss, bits per dimension or byte, accuracy."},
        .example = "afterimage eval runs/mirror --data 'mirror?split=test' --limit 500 --json",
        .setup = setup};
}

}  // namespace aft::app

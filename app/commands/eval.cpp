// afterimage eval: how good a model is on data.
#include <memory>
#include <nlohmann/json.hpp>

#include "app/cli/confusion.h"
#include "app/cli/options.h"
#include "app/cli/output.h"
#include "app/cli/ranks.h"
#include "app/cli/results_json.h"
#include "app/cli/work.h"
#include "app/commands/rooms.h"
#include "model/jobs/eval.h"

namespace aft::app {
namespace {

struct EvalFlags {
    EvalRequest request;
    std::string confusion;
    std::optional<int64_t> index;
    bool json = false;
    RankFlags ranks;
};

// What has to be the same on all ranks.
nlohmann::json same_on_all(const EvalRequest& request) {
    return {{"MODEL", request.model},      {"--data", request.data},   {"--split", request.split},
            {"--limit", request.limit},    {"--index", request.index}, {"--stride", request.stride},
            {"--batch", request.batch},    {"--ema", request.ema},     {"--recipe", request.recipe},
            {"--classes", request.classes}};
}

int eval(const EvalFlags& flags, const Globals& globals) {
    EvalRequest request = flags.request;
    request.index = flags.index.value_or(-1);
    check_confusion_file(flags.confusion);
    const Ranks ranks(flags.ranks, globals, same_on_all(request));
    request.ranks = ranks.group();
    request.device = globals.device;
    if (!ranks.leads())
        return follow_job(ranks, [&](const JobControl& control) {
            static_cast<void>(eval_job(request, control));
        });
    Work work(ranks.globals());
    request.device = work.device();
    const EvalResult result = eval_job(request, work.control());
    work.finish_progress();
    if (!flags.confusion.empty()) write_confusion(flags.confusion, result);
    print_result(flags.json ? to_json(result) : to_short_json(result), flags.json);
    return 0;
}

CommandRun setup(CLI::App& command) {
    auto flags = std::make_shared<EvalFlags>();
    EvalRequest& request = flags->request;
    add_text(command, {"MODEL", "checkpoint or run folder", "FILE", true}, request.model);
    add_data(command, "data source (?split=test chooses the part; default: the model's own)",
             request.data);
    add_whole(command, {"--limit", "so many examples, spread over the part (0: all)"},
              request.limit);
    add_whole(command, {"--index", "the examples from this one on, in a row, not spread"},
              flags->index);
    add_whole(command, {"--stride", "text: step of overlapping windows (0: the window)"},
              request.stride);
    add_whole(command, {"--batch", "examples at once (0: as fits)", 0, 65536}, request.batch);
    add_text(command, {"--split", "part of the data: train, validation, test", "NAME"},
             request.split);
    add_text(command, {"--examples", "writes a line for each example", "FILE.csv"},
             request.examples_file);
    add_text(command, {"--confusion", "classes: writes labels by answers", "FILE.csv|.png|.svg"},
             flags->confusion);
    add_choice(
        command,
        {"--classes",
         "exact: the data's are the model's, in their order; by-name: matched by their names",
         {"exact", "by-name"}},
        request.classes);
    add_switch(command, "--ema", "the moving average of the weights (train.ema)", request.ema);
    add_text(command,
             {"--recipe", "interventions on the model (afterimage list interventions)", "FILE"},
             request.recipe);
    add_switch(command, "--json", "print one JSON object", flags->json);
    add_rank_flags(command, flags->ranks);
    return [flags](const Globals& globals) { return eval(*flags, globals); };
}

}  // namespace

CommandRoom eval_command() {
    return {
        .info = {"eval", "Measures a model on data: loss, bits per dimension or byte, accuracy."},
        .example = "afterimage eval runs/mirror --data 'mirror?split=test' --limit 500 --json",
        .setup = setup};
}

}  // namespace aft::app

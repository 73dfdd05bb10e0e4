// afterimage compare: two models, or two steps of one, by their position biases.
#include <memory>
#include <nlohmann/json.hpp>

#include "app/cli/compare_words.h"
#include "app/cli/options.h"
#include "app/cli/output.h"
#include "app/cli/results_json.h"
#include "app/cli/work.h"
#include "app/commands/rooms.h"
#include "core/check.h"
#include "model/jobs/compare.h"

namespace aft::app {
namespace {

struct CompareFlags {
    CompareJob job;
    std::optional<int64_t> step_a, step_b, head_b;
    std::string heads = "matched", layers = "ordered", changes_by = "w";
    bool json = false;
};

int compare(CompareFlags& flags, const Globals& globals) {
    CompareJob& job = flags.job;
    job.a.step = flags.step_a.value_or(-1);
    job.b.step = flags.step_b.value_or(-1);
    job.head_b = flags.head_b.value_or(-1);
    job.matches = flags.heads == "matched";
    job.matches_layers = flags.layers == "matched";
    job.changes_by = flags.changes_by == "exp" ? ChangeMeasure::exp : ChangeMeasure::w;
    Work work(globals);
    const CompareResult result = compare_job(job, work.control());
    work.finish_progress();
    if (flags.json)
        print_json(to_json(result));
    else
        print_result(compare_words(job, result));
    return 0;
}

// What says which maps are written says nothing without a file.
void check_maps(const CLI::App& command) {
    if (is_given(command, "--out")) return;
    for (const char* flag : {"--view", "--quantity", "--layer", "--head", "--head-b"})
        if (is_given(command, flag))
            fail_usage("{}: of the maps that -o FILE writes; the numbers are of all layers", flag);
}

void add_maps(CLI::App& command, CompareFlags& flags) {
    CompareJob& job = flags.job;
    add_text(command, {"-o,--out", "the maps of --layer and --head: .npy, .csv", "FILE"}, job.out);
    add_choice(command,
               {"--view", "of the maps: both, difference (B - A), ratio (exp(w B) / exp(w A) - 1)",
                compare_views()},
               job.view);
    add_choice(command,
               {"--quantity", "of both and difference", {"w", "exp", "exp-1", "row-share"}},
               job.quantity);
    add_whole(command, {"--layer", "layer of A for the maps, from 0"}, job.layer);
    add_whole(command, {"--head", "head of A, from 0"}, job.head);
    add_whole(command, {"--head-b", "head of B in place of the matched one"}, flags.head_b);
}

CommandRun setup(CLI::App& command) {
    auto flags = std::make_shared<CompareFlags>();
    CompareJob& job = flags->job;
    add_text(command, {"A", "checkpoint or run folder", "FILE", true}, job.a.model);
    add_text(command, {"B", "checkpoint or run folder; the same one for two steps", "FILE", true},
             job.b.model);
    add_whole(command, {"--step-a", "stored step of the run A (default: the newest)"},
              flags->step_a);
    add_whole(command, {"--step-b", "stored step of the run B (default: the newest)"},
              flags->step_b);
    add_text(command, {"--recipe-a", "interventions on the biases of A", "FILE"}, job.a.recipe);
    add_text(command, {"--recipe-b", "interventions on the biases of B", "FILE"}, job.b.recipe);
    add_choice(command,
               {"--gauge",
                "fixed: what may be added to a row without a change of the model is taken out",
                {"fixed", "raw"}},
               job.gauge);
    add_choice(command,
               {"--heads",
                "which head is which: matched by the correlation of their maps, or in their order",
                {"matched", "ordered"}},
               flags->heads);
    add_choice(command,
               {"--layers",
                "which layer is which: in their order, or matched by the mean score of their heads",
                {"ordered", "matched"}},
               flags->layers);
    add_whole(command, {"--changes", "so many of the largest changes", 0, 10000}, job.changes);
    add_choice(
        command,
        {"--changes-by", "which are the largest: by the change of w, or of exp(w)", {"w", "exp"}},
        flags->changes_by);
    add_whole(command, {"--blocks", "of the means over N x N cells", 1, 4096}, job.blocks);
    add_maps(command, *flags);
    add_switch(command, "--json", "print one JSON object", flags->json);
    return [flags, &command](const Globals& globals) {
        check_maps(command);
        return compare(*flags, globals);
    };
}

}  // namespace

CommandRoom compare_command() {
    return {.info = {"compare",
                     "Sets two models, or two steps of one, against each other by their biases."},
            .example = "afterimage compare runs/a runs/b --layer 0 -o difference.npy",
            .setup = setup};
}

}  // namespace aft::app

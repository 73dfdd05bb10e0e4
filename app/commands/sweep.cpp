// afterimage sweep: a grid of settings and seeds, one run folder each, a table and a plot.
#include <memory>
#include <nlohmann/json.hpp>

#include "app/cli/options.h"
#include "app/cli/output.h"
#include "app/cli/ranks.h"
#include "app/cli/results_json.h"
#include "app/cli/sweep_tables.h"
#include "app/cli/work.h"
#include "app/commands/rooms.h"
#include "model/jobs/sweep/sweep.h"

namespace aft::app {
namespace {

struct SweepFlags {
    SweepRequest request;
    bool json = false, dry_run = false;
    RankFlags ranks;
};

// What has to be the same on all ranks.
nlohmann::json same_on_all(const SweepRequest& request) {
    return {{"FILE", request.file},       {"--preset", request.preset}, {"--data", request.data},
            {"--set", request.set},       {"--seeds", request.seeds},   {"--out", request.out},
            {"--resume", request.resume}, {"--from", request.from}};
}

// The runs that there would be.
int print_plan(const SweepRequest& request) {
    const SweepPlan plan = read_sweep(request);
    for (const SweepPoint& point : plan.points)
        for (const int64_t seed : plan.seeds)
            print_result(fmt::format("{},seed={}\n", point.name, seed));
    return 0;
}

int sweep(const SweepFlags& flags, const Globals& globals) {
    if (flags.dry_run) return print_plan(flags.request);
    SweepRequest request = flags.request;
    request.device = globals.device;
    const Ranks ranks(flags.ranks, globals, same_on_all(request));
    request.ranks = ranks.group();
    if (!ranks.leads())
        return follow_job(ranks, [&](const JobControl& control) {
            static_cast<void>(sweep_job(request, control, [](const SweepResult&) {}));
        });
    Work work(ranks.globals());
    request.device = work.device();
    const SweepResult result = sweep_job(request, work.control(), write_sweep_tables);
    work.finish_progress();
    if (flags.json)
        print_json(to_json(result));
    else
        print_result(sweep_words(result));
    if (result.count(SweepState::open) > 0) return 130;
    return result.count(SweepState::failed) > 0 ? 1 : 0;
}

CommandRun setup(CLI::App& command) {
    auto flags = std::make_shared<SweepFlags>();
    SweepRequest& request = flags->request;
    add_text(command, {"FILE", "JSON file of a sweep (docs/sweeps.md)", "FILE"}, request.file);
    add_text(command, {"--preset", "a sweep by name (afterimage list sweeps)", "NAME"},
             request.preset);
    add_data(command, "data source of all runs, in place of the file's", request.data);
    add_text(command,
             {"--from", "weights that every run starts from, in place of the file's", "MODEL"},
             request.from);
    add_texts(command, {"--set", "change one setting of all runs (repeatable)", "KEY=VALUE"},
              request.set);
    add_whole(command, {"--seeds", "only so many of its seeds (0: all)", 0, 10000}, request.seeds);
    add_text(command, {"-o,--out", "folder of runs and tables (default: runs/NAME-N)", "DIR"},
             request.out);
    add_switch(command, "--resume", "continue in --out; runs that are done stay", request.resume);
    add_rank_flags(command, flags->ranks);
    add_switch(command, "--dry-run", "print the runs and end", flags->dry_run);
    add_switch(command, "--json", "print one JSON object", flags->json);
    return [flags](const Globals& globals) { return sweep(*flags, globals); };
}

}  // namespace

CommandRoom sweep_command() {
    return {
        .info = {"sweep", "Trains and measures a grid of settings and seeds; a table and a plot."},
        .example = "afterimage sweep --preset bytes-window --data text:input.txt --out runs/window",
        .setup = setup};
}

}  // namespace aft::app

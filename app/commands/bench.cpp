// afterimage bench: ours and the peers in one process, against the limit of this machine.
#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/commands/rooms.h"
#include "app/options.h"
#include "app/output.h"
#include "app/work.h"
#include "bench/bench.h"
#include "core/files.h"

namespace aft::app {
namespace {

struct BenchFlags {
    bench::Request request;
    std::string markdown;
    bool json = false;
};

int run_bench(const BenchFlags& flags, const Globals& globals) {
    Work work(globals);
    const nlohmann::json result = bench::run(flags.request, work.control());
    work.finish_progress();
    if (flags.json) {  // printed first: a file that cannot be written loses nothing
        print_json(result);
    } else {
        print_result(bench::words(result));
    }
    if (!flags.markdown.empty()) write_atomically(flags.markdown, bench::markdown(result));
    return 0;
}

CommandRun setup(CLI::App& command) {
    auto flags = std::make_shared<BenchFlags>();
    add_text(command, {"FILTER", "workloads whose name contains it (default: all)", "FILTER"},
             flags->request.filter);
    add_whole(command, {"--rounds", "interleaved rounds", 15, 10000}, flags->request.rounds);
    add_switch(command, "--quick", "tiny shapes: shows that everything runs, not how fast",
               flags->request.quick);
    add_text(command, {"--markdown", "writes the tables to this file too", "FILE"},
             flags->markdown);
    add_switch(command, "--json", "print one JSON object", flags->json);
    return [flags](const Globals& globals) { return run_bench(*flags, globals); };
}

}  // namespace

CommandRoom bench_command() {
    return {.info = {"bench", "Times the operators against their peers and this machine's limit."},
            .example = "afterimage bench local_fwd --rounds 21",
            .setup = setup};
}

}  // namespace aft::app

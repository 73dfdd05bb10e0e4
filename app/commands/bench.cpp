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
    std::string markdown, plot;
    bool json = false;
};

// This program's own file: what the start-up rows start. Empty where the system does not tell.
std::string own_file() {
    std::error_code unknown;
    return fs::read_symlink("/proc/self/exe", unknown).string();
}

// Before the work: a name that cannot be written is told in a second, not after ten minutes.
void check_files(const BenchFlags& flags) {
    for (const std::string& file : {flags.plot, flags.markdown})
        if (!file.empty()) check_writable(file);
}

int run_bench(const BenchFlags& flags, const Globals& globals) {
    check_files(flags);
    Work work(globals);
    bench::Request request = flags.request;
    request.program = own_file();
    const nlohmann::json result = bench::run(request, work.control());
    work.finish_progress();
    if (flags.json) {  // first: a disk that is full by now loses nothing
        print_json(result);
    } else {
        print_result(bench::words(result));
    }
    if (!flags.plot.empty()) write_atomically(flags.plot, bench::plot(result));
    if (!flags.markdown.empty()) write_atomically(flags.markdown, bench::markdown(result));
    return 0;
}

CommandRun setup(CLI::App& command) {
    auto flags = std::make_shared<BenchFlags>();
    add_text(
        command,
        {"FILTER", "workloads whose name contains it (default: all of `afterimage list workloads`)",
         "FILTER"},
        flags->request.filter);
    add_whole(command, {"--rounds", "interleaved rounds", 15, 10000}, flags->request.rounds);
    add_switch(command, "--quick", "tiny shapes: shows that everything runs, not how fast",
               flags->request.quick);
    add_text(command, {"--markdown", "writes the tables to this file too", "FILE"},
             flags->markdown);
    add_text(command, {"--plot", "draws the growth and the ratios into this file", "FILE.svg"},
             flags->plot);
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

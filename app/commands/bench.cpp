// afterimage bench: ours and the peers in one process, against the limit of this machine.
#include <memory>
#include <nlohmann/json.hpp>

#include "app/cli/options.h"
#include "app/cli/output.h"
#include "app/cli/program_json.h"
#include "app/cli/work.h"
#include "app/commands/rooms.h"
#if AFT_WINDOW
#include "app/host/response.h"
#endif
#include "bench/bench.h"
#include "core/check.h"
#include "core/files.h"

namespace aft::app {
namespace {

struct BenchFlags {
    bench::BenchRequest request;
    std::string markdown, plot;
    bool json = false;
};

// Before the work: a name that cannot be written is reported in a second, not after ten minutes.
void check_files(const BenchFlags& flags) {
    for (const std::string& file : {flags.plot, flags.markdown})
        if (!file.empty()) check_writable(file);
    if (!flags.plot.empty() && fs::path(flags.plot).extension() != ".svg")
        fail_usage("--plot {}: the picture is an SVG file, its name must end in .svg", flags.plot);
}

// False if there was nothing to draw.
bool write_plot(const std::string& file, const nlohmann::json& result) {
    const std::string picture = bench::plot(result);
    if (picture.empty())
        print_note(fmt::format(
            "bench: nothing to draw: no row here has a growth, a limit or a ratio; {} is not "
            "written",
            file));
    else
        write_atomically(file, picture);
    return !picture.empty();
}

// The picture last: where it fails, nothing else is lost.
bool write_files(const BenchFlags& flags, const nlohmann::json& result) {
    if (!flags.markdown.empty()) write_atomically(flags.markdown, bench::markdown(result));
    return flags.plot.empty() || write_plot(flags.plot, result);
}

// How fast the window responds, where the filter asks for it: into `result`, and as words.
std::string add_responses([[maybe_unused]] const BenchFlags& flags,
                          [[maybe_unused]] const Globals& globals,
                          [[maybe_unused]] const JobControl& control,
                          [[maybe_unused]] nlohmann::json& result) {
#if AFT_WINDOW
    if (!flags.request.model.empty() ||
        std::string("gui_response").find(flags.request.filter) == std::string::npos)
        return "";
    const std::vector<ResponseRow> rows =
        measure_responses(globals.device, flags.request.quick, control);
    result["gui_response"] = responses_json(rows);
    return "\n" + response_words(rows);
#else
    return "";
#endif
}

// What was measured is shown and kept, whatever failed or was stopped; the exit code tells.
int run_bench(const BenchFlags& flags, const Globals& globals) {
    check_files(flags);
    Work work(globals);
    bench::BenchRequest request = flags.request;
    request.program = own_program();
    nlohmann::json result = bench::run(request, work.control());
    const std::string responses = add_responses(flags, globals, work.control(), result);
    work.finish_progress();
    if (result["workloads"].empty()) throw Interrupted();  // before the first row
    if (flags.json) {  // first: a disk that is full by now loses nothing
        print_json(result);
    } else {
        print_result(bench::words(result) + responses);
    }
    const bool complete = write_files(flags, result);
    if (result["stopped"]) throw Interrupted();
    const auto failed = result["failed"].get<int64_t>();
    AFT_CHECK(failed == 0, "bench: rows that failed: {}; their notes say why", failed);
    return complete ? 0 : 1;
}

CommandRun setup(CLI::App& command) {
    auto flags = std::make_shared<BenchFlags>();
    add_text(
        command,
        {"FILTER", "workloads whose name contains it (default: all of `afterimage list workloads`)",
         "FILTER"},
        flags->request.filter);
    add_text(command,
             {"--model",
              "times this model instead, beside the same with softmax attention: own_operator, "
              "own_token, own_step",
              "MODEL"},
             flags->request.model);
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

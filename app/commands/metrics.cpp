// afterimage metrics: what a run has logged, for spreadsheets and TensorBoard.
#include <memory>
#include <nlohmann/json.hpp>

#include "app/cli/options.h"
#include "app/cli/output.h"
#include "app/cli/results_json.h"
#include "app/cli/work.h"
#include "app/commands/rooms.h"
#include "model/jobs/log_export.h"

namespace aft::app {
namespace {

struct MetricsFlags {
    LogExportRequest request;
    std::string as = "csv";
    bool json = false;
};

CommandRun setup(CLI::App& command) {
    auto flags = std::make_shared<MetricsFlags>();
    add_text(command, {"RUN", "run folder", "RUN", true}, flags->request.run);
    add_choice(command,
               {"--as",
                "csv: a line for each logged step; tensorboard: an event file in a folder",
                {"csv", "tensorboard"}},
               flags->as);
    add_text(command,
             {"-o,--out", "file to write, or the folder of TensorBoard", "FILE.csv|DIR", true},
             flags->request.out);
    add_switch(command, "--json", "print one JSON object", flags->json);
    return [flags](const Globals& globals) {
        Work work(globals);
        if (flags->as == "tensorboard") flags->request.form = LogForm::tensorboard;
        const LogExportResult result = export_log(flags->request, work.control());
        work.finish_progress();
        print_result(to_json(result), flags->json);
        return 0;
    };
}

}  // namespace

CommandRoom metrics_command() {
    return {.info = {"metrics", "Writes what a run has logged as CSV or for TensorBoard."},
            .example = "afterimage metrics runs/mirror -o mirror.csv",
            .setup = setup};
}

}  // namespace aft::app

#include "app/cli/work.h"

#include "app/cli/output.h"
#include "app/cli/progress_line.h"
#include "app/cli/results_json.h"
#include "core/json.h"
#include "model/system.h"

namespace aft::app {

Work::Work(const Globals& globals)
    : line_(std::make_shared<ProgressLine>()), device_(globals.device) {
    initialize_model(globals.device, globals.threads);
    if (globals.verbose) print_note(json_text(to_json(system_report())));
}

Work::~Work() {
    line_->finish();
}

JobControl Work::control() {
    return {.report = [line = line_](const Progress& progress) { line->show(progress); },
            .stop = interrupts_.token()};
}

void Work::finish_progress() {
    line_->finish();
}

}  // namespace aft::app

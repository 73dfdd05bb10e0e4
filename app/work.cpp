#include "app/work.h"

#include <nlohmann/json.hpp>

#include "app/output.h"
#include "app/progress_line.h"
#include "app/results_json.h"
#include "model/jobs/system.h"

namespace aft::app {

Work::Work(const Globals& globals)
    : line_(std::make_shared<ProgressLine>()), device_(globals.device) {
    initialize_model(globals.device, globals.threads);
    if (globals.verbose) print_note(to_json(system_report()).dump());
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

// Job: the metrics that a run has logged, as files of other programs. Plain types. No LibTorch.
// Blocks until done; any thread.
#pragma once
#include <cstdint>
#include <string>

#include "core/progress.h"

namespace aft {

enum class LogForm {
    csv,         // a header, then a line for each logged step; empty = not logged at that step
    tensorboard  // an event file; the first point of a name becomes a slash: "validation/loss"
};

struct LogExportRequest {
    std::string run;  // a run folder
    std::string out;  // csv: FILE.csv; tensorboard: a folder, made where it is missing
    LogForm form = LogForm::csv;
};
struct LogExportResult {
    std::string run, file;  // file: what was written
    int64_t rows = 0, metrics = 0, bytes = 0, first_step = 0, last_step = 0;
};
// The times of an event file are estimates: the log has no clock, so its last line has the time of
// metrics.jsonl, and a line before has timing.step_ms times the steps between less. Error for what
// is no run folder, for a run that has logged nothing, for a broken line (with its byte), and for a
// folder that has an event file already: TensorBoard would draw both as one curve.
[[nodiscard]] LogExportResult export_log(const LogExportRequest& request,
                                         const JobControl& control);

}  // namespace aft

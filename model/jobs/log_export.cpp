#include "model/jobs/log_export.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "core/clock.h"
#include "core/event_file.h"
#include "core/files.h"
#include "core/outside.h"
#include "core/writers.h"
#include "model/checkpoints/run_paths.h"
#include "model/metrics.h"

namespace aft {
namespace {

constexpr size_t kMostLogCells = size_t{1} << 28;
constexpr const char* kEventFile = "events.out.tfevents.";

Curves read_log_of(const std::string& run, const JobControl& control) {
    if (!is_run_folder(run))
        fail("{}: is no run folder; a run has its config.json and metrics.jsonl there",
             shown_path(run));
    Curves curves;
    uint64_t offset = 0;
    while (read_rows(run, offset, curves)) {
        if (control.stop.stop_requested()) throw Interrupted();
        control.report({.done = static_cast<int64_t>(offset), .total = 0, .what = "bytes read"});
    }
    if (curves.step.empty() || curves.columns.empty())
        fail("{}: no metrics are logged there (metrics.jsonl has no whole line with a number)",
             shown_path(run));
    const size_t rows = curves.step.size(), columns = curves.columns.size();
    if (columns > kMostLogCells / rows)
        fail("{}: metrics.jsonl has {} lines with {} metrics; at most {} cells are exported",
             shown_path(run), rows, columns, kMostLogCells);
    return curves;
}

int64_t step_at(const Curves& curves, size_t row) {
    return static_cast<int64_t>(curves.step[row]);
}

void write_log_csv(const fs::path& file, const Curves& curves, const JobControl& control) {
    write_atomically(file, [&](std::ostream& out) {
        std::string line = "step";
        for (const auto& [name, column] : curves.columns) line += "," + csv_cell(name);
        out << line << '\n';
        for (size_t row = 0; row < curves.step.size(); ++row) {
            if (control.stop.stop_requested()) throw Interrupted();
            line = std::to_string(step_at(curves, row));
            for (const auto& [name, column] : curves.columns) {
                line += ',';
                if (const double value = column[row]; !std::isnan(value))
                    line += fmt::format("{}", value);  // reads back as the same float64
            }
            out << line << '\n';
        }
    });
}

// Seconds since 1970 of every row: the last is `end`, each step before it takes its step_ms.
std::vector<double> times_until(double end, const Curves& curves) {
    const size_t rows = curves.step.size();
    std::vector<double> times(rows, end);
    const auto took = curves.columns.find("timing.step_ms");
    if (took == curves.columns.end()) return times;
    for (size_t row = rows - 1; row > 0; --row) {
        const double steps = curves.step[row] - curves.step[row - 1];
        const double seconds = took->second[row] / 1000 * steps;
        const bool counts = std::isfinite(seconds) && seconds > 0;
        times[row - 1] = std::max(0.0, times[row] - (counts ? seconds : 0));
    }
    return times;
}

std::string tag_of(const std::string& name) {
    std::string tag = printable_line(name);
    if (const size_t point = tag.find('.'); point != std::string::npos) tag[point] = '/';
    return tag;
}

void check_no_events(const fs::path& folder) {
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
        const std::string name = it->path().filename().string();
        if (name.find("tfevents") != std::string::npos)
            fail(
                "{}: has an event file already, {}, which TensorBoard would draw as one curve with "
                "this run; choose another folder, or remove it",
                shown_path(folder.string()), shown(name));
    }
}

fs::path write_log_events(const fs::path& folder, double end, const Curves& curves,
                          const JobControl& control) {
    const std::vector<double> times = times_until(end, curves);
    std::vector<std::string> tags;
    for (const auto& [name, column] : curves.columns) tags.push_back(tag_of(name));
    const auto first = static_cast<int64_t>(times.front());
    const fs::path file = folder / fmt::format("{}{}.afterimage", kEventFile, first);
    write_atomically(file, [&](std::ostream& out) {
        write_event_version(out, times.front());
        for (size_t row = 0; row < times.size(); ++row) {
            if (control.stop.stop_requested()) throw Interrupted();
            ScalarEvent event{.wall_time = times[row], .step = step_at(curves, row), .values = {}};
            size_t place = 0;
            for (const auto& [name, column] : curves.columns) {
                const std::string& tag = tags[place++];
                if (const double value = column[row]; !std::isnan(value))
                    event.values.emplace_back(tag, static_cast<float>(value));
            }
            write_event(out, event);
        }
    });
    return file;
}

}  // namespace

LogExportResult export_log(const LogExportRequest& request, const JobControl& control) {
    const fs::path run = request.run, out = request.out;
    const bool is_csv = request.form == LogForm::csv;
    if (is_csv && out.extension() != ".csv")
        fail_usage("-o '{}': the name must end in .csv (or give --as tensorboard and a folder)",
                   shown_path(request.out));
    const Curves curves = read_log_of(request.run, control);
    LogExportResult result;
    result.run = request.run;
    if (is_csv) {
        result.file = request.out;
        write_log_csv(out, curves, control);
    } else {
        check_no_events(out);
        make_folder(out);
        const auto changed = unix_seconds(fs::last_write_time(metrics_path(run)));
        result.file = write_log_events(out, static_cast<double>(changed), curves, control).string();
    }
    result.rows = static_cast<int64_t>(curves.step.size());
    result.metrics = static_cast<int64_t>(curves.columns.size());
    result.bytes = static_cast<int64_t>(fs::file_size(result.file));
    result.first_step = step_at(curves, 0);
    result.last_step = step_at(curves, curves.step.size() - 1);
    return result;
}

}  // namespace aft

// Training the mirror demo with its window open and without, by turns: steps a second of the same
// run, and how long frames take meanwhile. One row of the kind "program" (program.h).
#include <algorithm>
#include <fstream>

#include "bench/child.h"
#include "bench/program.h"
#include "bench/statistics.h"
#include "core/files.h"

namespace aft::bench {
namespace {

constexpr int64_t kFirst = 10, kLast = 90;  // steps between which the clock runs
constexpr int64_t kLook = 10;               // ms: looking costs the processor that is measured

double rate_of(Child& child, const std::string& run, const std::stop_token& stop) {
    LinesWanted wanted{.file = run + "/metrics.jsonl", .lines = kFirst, .look_every_ms = kLook};
    const double begin = child.wait_for_lines(wanted, stop);
    const auto before = static_cast<double>(count_lines(wanted.file));
    wanted.lines = kLast;
    const double end = child.wait_for_lines(wanted, stop);
    return (static_cast<double>(count_lines(wanted.file)) - before) / (end - begin);
}

double without_window(const std::string& program, const std::stop_token& stop) {
    const TemporaryFolder folder;
    const std::string run = (folder.path() / "run").string();
    Child child({.program = program,
                 .words = {"train", "--preset", "demo-mirror", "--out", run},
                 .variables = {}});
    return rate_of(child, run, stop);
}

std::vector<double> frame_times(const std::string& file) {  // ms
    std::vector<double> times;
    std::ifstream in(file);
    std::string at, draw, state;
    while (std::getline(in, at, '\t') && std::getline(in, draw, '\t') && std::getline(in, state))
        if (state.find("unning") != std::string::npos) times.push_back(std::stod(draw));
    return times;
}

struct Opened {
    std::vector<double> rates, frames;
};

void with_window(const std::string& program, const std::stop_token& stop, Opened& open) {
    const TemporaryFolder folder;
    const std::string run = (folder.path() / "run").string(),
                      drawn = (folder.path() / "frames").string();
    Child child(
        {.program = program,
         .words = {"demo", "--out", run},
         .variables = {"AFTERIMAGE_FRAMES=" + drawn, "XDG_CONFIG_HOME=" + folder.path().string()}});
    open.rates.push_back(rate_of(child, run, stop));
    const std::vector<double> times = frame_times(drawn);
    open.frames.insert(open.frames.end(), times.begin(), times.end());
}

nlohmann::json row_of(const Settings& settings, const JobControl& control) {
    const std::string why = reason_to_skip(settings, true);
    if (!why.empty()) return unmeasured_row(why);
    const Neighbours around;
    Opened open;
    std::vector<double> without;
    for (int64_t i = 0; i < (settings.quick ? 1 : 3); ++i) {
        with_window(settings.program, control.stop, open);
        without.push_back(without_window(settings.program, control.stop));
    }
    std::vector<Figure> figures{{"training with the window open", "steps/s", open.rates},
                                {"training without", "steps/s", without}};
    if (!open.frames.empty()) figures.push_back({"frames drawn", "ms", open.frames});
    const double share = summarize(open.rates).median / summarize(without).median;
    nlohmann::json row = program_row(
        figures,
        {.words = fmt::format("at least 0.8x of the speed without (found {:.2f}x)", share),
         .is_met = share >= 0.8},
        around, settings.quick);
    if (!open.frames.empty())
        row["note"] = fmt::format("99 % of the frames took at most {:.1f} ms to draw",
                                  quantile(open.frames, 0.99));
    return row;
}

std::vector<RowPlan> rows(bool) {
    return {{fmt::format("demo-mirror, steps {} to {}", kFirst, kLast), row_of}};
}

}  // namespace

WorkloadRoom gui_train_workload() {
    return {.info = {"gui_train", "training with the window open, against training without"},
            .rows = rows};
}

}  // namespace aft::bench

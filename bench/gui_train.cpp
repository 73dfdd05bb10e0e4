// Training the mirror demo with its window open and without, by turns: steps a second of the same
// run, and how long frames take meanwhile. One row of the kind "program" (startup.cpp).
#include <algorithm>
#include <fstream>

#include "bench/child.h"
#include "bench/rounds.h"
#include "bench/statistics.h"
#include "core/files.h"

namespace aft::bench {
namespace {

using nlohmann::json;

constexpr double kPatience = 60;            // seconds
constexpr int64_t kFirst = 10, kLast = 90;  // steps between which the clock runs

double rate_of(Child& child, const std::string& run) {
    const std::string lines = run + "/metrics.jsonl";
    const double begin = child.wait_for_lines(lines, kFirst, kPatience);
    const auto before = static_cast<double>(count_lines(lines));
    const double end = child.wait_for_lines(lines, kLast, kPatience);
    return (static_cast<double>(count_lines(lines)) - before) / (end - begin);
}

double without_window(const std::string& program) {
    const TemporaryFolder folder;
    const std::string run = (folder.path() / "run").string();
    Child child({.program = program,
                 .words = {"train", "--preset", "demo-mirror", "--out", run},
                 .variables = {}});
    return rate_of(child, run);
}

std::vector<double> frame_times(const std::string& file) {  // ms
    std::vector<double> times;
    std::ifstream in(file);
    std::string at, draw, state;
    while (std::getline(in, at, '\t') && std::getline(in, draw, '\t') && std::getline(in, state))
        if (state.find("unning") != std::string::npos) times.push_back(std::stod(draw));
    return times;
}

double with_window(const std::string& program, std::vector<double>& frames) {
    const TemporaryFolder folder;
    const std::string run = (folder.path() / "run").string(),
                      drawn = (folder.path() / "frames").string();
    Child child(
        {.program = program,
         .words = {"demo", "--out", run},
         .variables = {"AFTERIMAGE_FRAMES=" + drawn, "XDG_CONFIG_HOME=" + folder.path().string()}});
    const double rate = rate_of(child, run);
    const std::vector<double> times = frame_times(drawn);
    frames.insert(frames.end(), times.begin(), times.end());
    return rate;
}

json figure(const char* name, const char* unit, const std::vector<double>& values) {
    const Summary summary = summarize(values);
    return {{"name", name},
            {"ours", true},
            {"unit", unit},
            {"least", summary.least},
            {"median", summary.median},
            {"rounds", values.size()}};
}

json rows(const Settings& settings, const JobControl& control) {
    json row{{"kind", "program"},
             {"case", "demo-mirror, steps 10 to 90"},
             {"contestants", json::array()},
             {"accept", json::array()}};
    if (settings.program.empty() || !has_display()) {
        row["note"] = settings.program.empty() ? "not measured: the program's file is not known"
                                               : "no display: not measured";
        return {row};
    }
    std::vector<double> open, without, frames;
    for (int64_t i = 0; i < (settings.quick ? 1 : 3); ++i) {
        if (control.stop.stop_requested()) throw Interrupted();
        open.push_back(with_window(settings.program, frames));
        without.push_back(without_window(settings.program));
    }
    row["contestants"] = {figure("training with the window open", "steps/s", open),
                          figure("training without", "steps/s", without)};
    if (!frames.empty()) row["contestants"].push_back(figure("frames drawn", "ms", frames));
    const double share = summarize(open).median / summarize(without).median;
    row["accept"].push_back(
        verdict(fmt::format("at least 0.8x of the speed without (found {:.2f}x)", share),
                share >= 0.8, !settings.quick));
    if (!frames.empty())
        row["note"] = fmt::format("99 % of the frames took at most {:.1f} ms to draw",
                                  quantile(frames, 0.99));
    return {row};
}

}  // namespace

WorkloadRoom gui_train_workload() {
    return {.info = {"gui_train", "training with the window open, against training without"},
            .rows = rows};
}

}  // namespace aft::bench

// From the start of the process to its first frame and to its first training step. One row:
// {"kind": "program", "case", "note", "contestants": [{"name", "ours", "unit", "least", "median",
// "rounds"}], "accept"}.
#include <algorithm>

#include "bench/child.h"
#include "bench/rounds.h"
#include "bench/statistics.h"
#include "core/files.h"

namespace aft::bench {
namespace {

using nlohmann::json;

constexpr double kPatience = 60;  // seconds

double first_step(const std::string& program) {
    const TemporaryFolder folder;
    const std::string run = (folder.path() / "run").string();
    Child child({.program = program,
                 .words = {"train", "--preset", "demo-mirror", "--steps", "1", "--out", run},
                 .variables = {}});
    return child.wait_for_lines(run + "/metrics.jsonl", 1, kPatience);
}

double first_frame(const std::string& program) {
    const TemporaryFolder folder;
    const std::string frames = (folder.path() / "frames").string();
    Child child({.program = program,
                 .words = {"window"},
                 .variables = {"AFTERIMAGE_FRAMES=" + frames,
                               "XDG_CONFIG_HOME=" + folder.path().string()}});
    return child.wait_for_lines(frames, 1, kPatience);
}

json timed(const std::string& name, int64_t rounds, const std::function<double()>& round) {
    std::vector<double> times;
    for (int64_t i = 0; i < rounds; ++i) times.push_back(round());
    const Summary summary = summarize(times);
    return {{"name", name},
            {"ours", true},
            {"unit", "s"},
            {"least", summary.least},
            {"median", summary.median},
            {"rounds", rounds}};
}

json rows(const Settings& settings, const JobControl& control) {
    json row{{"kind", "program"},
             {"case", "a process of its own, files in the system's cache"},
             {"contestants", json::array()},
             {"accept", json::array()}};
    if (settings.program.empty()) {
        row["note"] = "not measured: the program's file is not known";
        return {row};
    }
    const int64_t rounds = settings.quick ? 1 : std::min<int64_t>(settings.rounds, 5);
    const auto add = [&](const std::string& name, double bound,
                         double (*round)(const std::string&)) {
        if (control.stop.stop_requested()) throw Interrupted();
        const json one = timed(name, rounds, [&] { return round(settings.program); });
        row["contestants"].push_back(one);
        row["accept"].push_back(verdict(fmt::format("{}: at most {} s", name, bound),
                                        one["median"] <= bound, !settings.quick));
    };
    add("first training step", 2, first_step);
    if (has_display())
        add("first frame", 1, first_frame);
    else
        row["note"] = "no display: the first frame is not measured";
    return {row};
}

}  // namespace

WorkloadRoom startup_workload() {
    return {.info = {"startup", "process start to the first frame and the first training step"},
            .rows = rows};
}

}  // namespace aft::bench

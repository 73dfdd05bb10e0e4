// From the start of the process to its first training step and to its first frame, files in the
// system's cache. Rows of the kind "program" (program.h).
#include <algorithm>

#include "bench/timing/child.h"
#include "bench/timing/program.h"
#include "bench/timing/statistics.h"
#include "core/files.h"

namespace aft::bench {
namespace {

struct Milestone {
    std::string name;
    double at_most = 0;  // seconds
    bool needs_display = false;
    double (*round)(const std::string& program, const std::stop_token& stop) = nullptr;
};

double first_step(const std::string& program, const std::stop_token& stop) {
    const TemporaryFolder folder;
    const std::string run = (folder.path() / "run").string();
    Child child({.program = program,
                 .words = {"train", "--preset", "demo-mirror", "--steps", "1", "--out", run},
                 .variables = {}});
    return child.wait_for_lines({.file = run + "/metrics.jsonl"}, stop);
}

double first_frame(const std::string& program, const std::stop_token& stop) {
    const TemporaryFolder folder;
    const std::string frames = (folder.path() / "frames").string();
    Child child({.program = program,
                 .words = {"window"},
                 .variables = {"AFTERIMAGE_FRAMES=" + frames,
                               "XDG_CONFIG_HOME=" + folder.path().string()}});
    return child.wait_for_lines({.file = frames}, stop);
}

nlohmann::json row_of(const Milestone& one, const BenchSettings& settings,
                      const JobControl& control) {
    const std::string why = reason_to_skip(settings, one.needs_display);
    if (!why.empty()) return unmeasured_row(why);
    const int64_t rounds = settings.quick ? 1 : std::min<int64_t>(settings.rounds, 5);
    const ForeignCpuLoad around;
    Figure figure{.name = one.name, .unit = "s"};
    for (int64_t i = 0; i < rounds; ++i) {
        if (control.stop.stop_requested()) throw Interrupted();
        figure.values.push_back(one.round(settings.program, control.stop));
    }
    return program_row({figure},
                       {.words = fmt::format("at most {} s", one.at_most),
                        .is_met = summarize(figure.values).median <= one.at_most},
                       around, settings.quick);
}

std::vector<RowPlan> rows(bool) {
    std::vector<RowPlan> plans;
    for (const Milestone& one : {Milestone{"first training step", 2, false, first_step},
                                 Milestone{"first frame", 1, true, first_frame}})
        plans.push_back({one.name, [one](const BenchSettings& settings, const JobControl& control) {
                             return row_of(one, settings, control);
                         }});
    return plans;
}

}  // namespace

WorkloadRoom startup_workload() {
    return {.info = {"startup", "process start to the first training step and the first frame"},
            .rows = rows};
}

}  // namespace aft::bench

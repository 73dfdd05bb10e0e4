// Training the mirror demo with its window open and without, by turns: steps a second of both, and
// how long frames take meanwhile. One row of the kind "program" (program.h).
#include <algorithm>
#include <fstream>

#include "bench/timing/child.h"
#include "bench/timing/program.h"
#include "bench/timing/statistics.h"
#include "core/files.h"

namespace aft::bench {
namespace {

constexpr int64_t kFirst = 10;     // steps before the first round
constexpr int64_t kWarm = 5;       // steps after which the clock of a round starts
constexpr int64_t kSteps = 55;     // steps of a round: two validations are timed in each
constexpr int64_t kRounds = 6;     // of each; the demo has 400 steps
constexpr double kPatience = 300;  // seconds, those of the other one's rounds included
constexpr int64_t kLook = 10;      // ms: looking costs the processor that is measured

// One of two training processes. They alternate by SIGSTOP and SIGCONT, so that background load
// affects both equally.
class Training {
  public:
    Training(const ChildRequest& request, std::string run)
        : child_(request), metrics_(std::move(run) + "/metrics.jsonl") {}

    void begin(const std::stop_token& stop) {
        child_.wait_for_lines(wanted(kFirst), stop);
        child_.hold();
    }
    double round(const std::stop_token& stop) {  // -> seconds it took
        child_.resume();
        const int64_t first = count_lines(metrics_) + kWarm;
        const double resumed = child_.seconds();
        const double begin = child_.wait_for_lines(wanted(first), stop);
        const double end = child_.wait_for_lines(wanted(first + kSteps - kWarm), stop);
        child_.hold();
        rates_.push_back(static_cast<double>(kSteps - kWarm) / (end - begin));
        return end - resumed;
    }
    [[nodiscard]] const std::vector<double>& rates() const { return rates_; }  // steps/s

  private:
    [[nodiscard]] LinesWanted wanted(int64_t lines) const {
        return {.file = metrics_, .lines = lines, .at_most = kPatience, .look_every_ms = kLook};
    }

    Child child_;
    std::string metrics_;
    std::vector<double> rates_;
};

std::vector<double> frame_times(const std::string& file) {  // ms
    std::vector<double> times;
    std::ifstream in(file);
    std::string at, draw, state;
    while (std::getline(in, at, '\t') && std::getline(in, draw, '\t') && std::getline(in, state))
        if (state.find("unning") != std::string::npos) times.push_back(std::stod(draw));
    return times;
}

struct Measured {
    std::vector<double> open, alone, frames;  // steps/s, steps/s, ms
    std::vector<double> shares;               // of each round
};

// Both programs have ended when it returns: their load is subtracted from the foreign CPU load.
Measured measure(const BenchSettings& settings, const std::stop_token& stop) {
    const TemporaryFolder folder;
    const std::string alone_run = (folder.path() / "alone").string(),
                      open_run = (folder.path() / "open").string(),
                      drawn = (folder.path() / "frames").string();
    Training alone({.program = settings.program,
                    .words = {"train", "--preset", "demo-mirror", "--out", alone_run},
                    .variables = {}},
                   alone_run);
    alone.begin(stop);
    Training open(
        {.program = settings.program,
         .words = {"demo", "--out", open_run},
         .variables = {"AFTERIMAGE_FRAMES=" + drawn, "XDG_CONFIG_HOME=" + folder.path().string()}},
        open_run);
    open.begin(stop);
    Measured found;
    double held = kPatience;  // seconds, the shortest
    for (int64_t i = 0; i < (settings.quick ? 1 : kRounds); ++i) {
        open.round(stop);
        held = std::min(held, alone.round(stop));
        found.shares.push_back(open.rates().back() / alone.rates().back());
    }
    found.open = open.rates();
    found.alone = alone.rates();
    found.frames = frame_times(drawn);
    // A frame in which it was held.
    std::erase_if(found.frames, [&](double ms) { return ms >= held * 1000; });
    return found;
}

nlohmann::json row_of(const BenchSettings& settings, const JobControl& control) {
    const std::string why = reason_to_skip(settings, true);
    if (!why.empty()) return unmeasured_row(why);
    const ForeignCpuLoad around;
    const Measured found = measure(settings, control.stop);
    std::vector<Figure> figures{{"training with the window open", "steps/s", found.open},
                                {"training without", "steps/s", found.alone}};
    if (!found.frames.empty()) figures.push_back({"frames drawn", "ms", found.frames});
    const double share = summarize(found.shares).median;
    nlohmann::json row = program_row(
        figures,
        {.words = fmt::format("at least 0.8x of the speed without (found {:.2f}x)", share),
         .is_met = share >= 0.8},
        around, settings.quick);
    std::string note = "the ratio is the median of the rounds' own";
    if (!found.frames.empty())
        note += fmt::format("; 99 % of the frames took at most {:.1f} ms to draw",
                            quantile(found.frames, 0.99));
    row["note"] = note;
    return row;
}

std::vector<RowPlan> rows(bool) {
    return {{fmt::format("demo-mirror, {} steps by turns", kSteps), row_of}};
}

}  // namespace

WorkloadRoom gui_train_workload() {
    return {.info = {"gui_train", "training with the window open, against training without"},
            .rows = rows};
}

}  // namespace aft::bench

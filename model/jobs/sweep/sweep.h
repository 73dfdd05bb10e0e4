// Job: a sweep, the runs of a grid of settings and seeds, each in a folder of its own, trained and
// then measured; what was done before a kill is not done again. Plain types. No LibTorch. Blocks
// until done; any thread.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/progress.h"
#include "core/rooms.h"
#include "model/config.h"

namespace aft {

class RankGroup;

// A place of the grid: what its runs have in common.
struct SweepPoint {
    std::string name{};                                           // "window=32"; part of a path
    std::vector<std::pair<std::string, std::string>> settings{};  // of the variant and the axes
    std::string variant{};                                        // "" = the sweep has none
    std::string paper{};  // the paper's value, as it stands there
};

// What a sweep file holds (docs/sweeps.md has the keys).
struct SweepPlan {
    std::string name{}, sentence{}, paper{};  // paper: the table or section it is for
    Config base{};
    std::string from{};  // weights that every run starts from; "" = random ones
    std::vector<SweepPoint> points{};
    std::vector<int64_t> seeds{};
    std::string split{};  // measured part of the data; "" = the usual one
    int64_t limit = 0;    // examples measured at most; 0 = all
    std::string x_key{};  // axis along which the plot runs; "" = points side by side
};

struct SweepRequest {
    std::string file{}, preset{};    // one of them
    std::string data{}, from{};      // in place of the file's; "" = that
    std::vector<std::string> set{};  // key=value for every run, before those of the points
    int64_t seeds = 0;               // as many of the seeds, from the first; 0 = all
    std::string out{};               // folder; "" = runs/NAME-N
    bool resume = false;             // continue in `out`
    std::string device = "cpu";
    RankGroup* ranks = nullptr;  // processes that share the runs; none: alone. Outlives the job.
};

enum class SweepState { open, done, failed };

struct SweepRun {
    size_t point = 0;  // place in SweepPlan::points
    int64_t seed = 0;
    std::string folder{};
    SweepState state = SweepState::open;
    std::string error{};  // failed: why
    int64_t step = 0, parameters = 0;
    double train_loss = 0;    // nats, of the last step
    double loss_nats = 0;     // measured
    double metric_value = 0;  // measured, of SweepResult::metric
    int64_t examples = 0;     // that were measured
    double seconds = 0;       // of its training, all starts together
};

// Of the runs of one point that are done: n of them. NaN where there are too few.
struct SweepSummary {
    int64_t n = 0;
    double mean = 0, deviation = 0, error = 0;  // error: of the mean, deviation / sqrt(n)
    double least = 0, most = 0;
};

struct SweepResult {
    SweepPlan plan{};
    std::string out{};
    std::string metric{}, metric_words{}, split{};  // of the measured values
    std::vector<SweepRun> runs{};                   // points times seeds, in this order
    std::vector<SweepSummary> summaries{};          // of each point
    [[nodiscard]] int64_t count(SweepState state) const;
};

// Usage Error that names the file and the key, what was found and what is allowed. Settings of all
// points are checked before anything is trained.
[[nodiscard]] SweepPlan read_sweep(const SweepRequest& request);
// Of one run: the base with the settings of its point.
[[nodiscard]] Config sweep_config(const SweepPlan& plan, const SweepPoint& point, int64_t seed);
[[nodiscard]] std::vector<RoomInfo> list_sweeps();  // assets/sweeps/*.json

// `publish` gets the state of things at the start and after every run; the tables are its to write.
// A run that fails is kept as failed and the next one begins; a full disk ends the sweep.
// Stopped by its token, the run at work is saved and the result is what there is. With ranks each
// process calls it for the same sweep and trains one run at a time; rank 0 alone publishes, is
// stopped for all, and has the result.
using SweepPublish = std::function<void(const SweepResult&)>;
[[nodiscard]] SweepResult sweep_job(const SweepRequest& request, const JobControl& control,
                                    const SweepPublish& publish);

}  // namespace aft

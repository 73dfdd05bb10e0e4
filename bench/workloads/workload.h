// A workload: rows of the benchmark. Room = one .cpp in bench/ with one exported function
// `WorkloadRoom NAME_workload();`, listed in rooms.cpp. Benchmark thread only.
#pragma once
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/workloads/problem.h"
#include "core/progress.h"
#include "core/rooms.h"

namespace aft::bench {

class Calibrator;  // bench/timing/calibrate.h

struct BenchSettings {
    int64_t rounds = 15;
    bool quick = false;
    std::string program = {};  // this program's file, for rows that start it; empty = unknown
    const Calibrator* calibrator = nullptr;
};

// One row, measured when its turn comes. Making a plan costs nothing; what measuring throws becomes
// the note of a row that failed, and the next one runs.
struct RowPlan {
    std::string name;  // its "case"
    std::function<nlohmann::json(const BenchSettings& settings, const JobControl& control)> measure;
};

struct WorkloadRoom {
    RoomInfo info;
    // Either problems, for the race of ours against every peer, or rows of its own.
    std::vector<Problem> (*problems)(bool quick) = nullptr;
    std::vector<RowPlan> (*rows)(bool quick) = nullptr;
};

[[nodiscard]] const std::vector<WorkloadRoom>& workloads();

// Errors, then interleaved rounds between two calibrations: one row (its keys: race.cpp; the case
// is its plan's name, as in all rows).
[[nodiscard]] nlohmann::json race(const Problem& problem, const BenchSettings& settings,
                                  const JobControl& control);

// JSON has no NaN: numbers as they are, "NaN" and "inf" as words.
[[nodiscard]] nlohmann::json number(double value);

}  // namespace aft::bench

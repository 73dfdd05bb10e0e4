// Rows of the kind "program": this program as a process of its own, figures without peers.
// Benchmark thread only; LibTorch inside.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/timing/calibrate.h"
#include "bench/workloads/workload.h"
#include "core/system/foreign_cpu_load.h"

namespace aft::bench {

struct Figure {
    std::string name, unit;
    std::vector<double> values = {};  // one at least
};

struct Claim {
    std::string words;
    bool is_met = false;
};

// {"kind": "program", "note", "others", "contended", "contestants": [{"name", "ours", "unit",
// "least", "median", "rounds"}], "accept"}. The claim is judged where no other program took the
// processor; `around` was made before the first process was started, all of which have ended.
[[nodiscard]] nlohmann::json program_row(const std::vector<Figure>& figures, const Claim& claim,
                                         const ForeignCpuLoad& around, bool quick);
// The same without figures: why nothing was measured.
[[nodiscard]] nlohmann::json unmeasured_row(const std::string& why);

// Why such a row cannot be measured here; empty = it can.
[[nodiscard]] std::string reason_to_skip(const BenchSettings& settings, bool needs_display);

}  // namespace aft::bench

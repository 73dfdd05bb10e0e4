// Benchmarks: the interface of bench/. Ours and the peers in one process on the same tensors, in
// turns; errors against float64 before any time. Called by `afterimage bench` and the tests, on the
// thread that owns the tensors; blocks until done. Plain types only, no LibTorch. No time is ever
// asserted.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/progress.h"
#include "core/rooms.h"

namespace aft::bench {

struct BenchRequest {
    std::string filter;  // the workload of this name, else all that contain it; empty = all
    int64_t rounds = 15;
    bool quick = false;  // tiny shapes: shows that everything runs, the figures mean nothing
    // This program's file, which the start-up rows start; empty = they are left out.
    std::string program = {};
};

// {"machine", "date", "rounds", "quick", "failed", "stopped", "workloads": [{"name", "sentence",
// "rows": [...]}]}. A row that cannot be measured has the kind "failed" and a note that says why;
// "failed" counts them. A stop ends the work between rounds and keeps the rows measured so far.
// initialize_model comes first. Error if the filter fits no workload.
[[nodiscard]] nlohmann::json run(const BenchRequest& request, const JobControl& control);
[[nodiscard]] std::string words(const nlohmann::json& result);     // tables for the terminal
[[nodiscard]] std::string markdown(const nlohmann::json& result);  // docs/performance.md
// One SVG: growth against T where that was measured, and how far ours is from its peers and limits.
// Empty if no row has anything of that.
[[nodiscard]] std::string plot(const nlohmann::json& result);
[[nodiscard]] std::vector<RoomInfo> workload_list();
[[nodiscard]] std::vector<RoomInfo> peer_list();

}  // namespace aft::bench

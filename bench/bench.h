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
    // A checkpoint or run folder: the rows of that model instead (own_operator, own_token,
    // own_step), at its own sizes. Its weights are not read.
    std::string model = {};
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
// Those that this model has; reads its header.
[[nodiscard]] std::vector<RoomInfo> own_workload_list(const std::string& model);

// What a row says of one way to compute it: milliseconds of a call, step or token; its time over
// ours in its precision, with the middle half of the rounds; ratio 0: none is given.
struct TimedForm {
    std::string name, precision;
    bool is_ours = false;
    double median_ms = 0;
    double ratio = 0, ratio_low = 0, ratio_high = 0;
};
struct TimedRow {
    std::string name, note;     // note: why it could not be measured, or what is to be known of it
    double others = 0;          // share of the processors that other programs took
    bool is_contended = false;  // too much for a ratio to be trusted
    std::vector<TimedForm> forms;
};
// The rows of request.model, measured by request.program in a process of its own, where nothing
// that it sets (threads, random numbers) meets this one; in this process if that is empty. Any
// thread but the window's; blocks. Error as run(); Interrupted.
[[nodiscard]] std::vector<TimedRow> run_apart(const BenchRequest& request,
                                              const std::stop_token& stop);
[[nodiscard]] std::vector<RoomInfo> peer_list();

}  // namespace aft::bench

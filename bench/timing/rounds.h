// The rules that every timed row obeys: a warm-up, rounds in turn, a calibration before and after,
// the foreign CPU load; a disturbed measurement is discarded and repeated, and no ratio is given
// when the rates moved. Benchmark thread only.
#pragma once
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/timing/calibrate.h"
#include "bench/workloads/workload.h"

namespace aft::bench {

// A contestant of alternating rounds; all times in seconds.
struct Turn {
    std::function<double()> round;  // runs once -> what is reported: of a call, a token, a step
    bool ours = false;
    double first = 0;                // seconds of a call before; 0 = measure() warms up
    int64_t rounds = 0;              // planned by measure()
    std::vector<double> times = {};  // filled by measure()
};

struct Rounds {
    bool warm_up = true;
    int64_t least_rounds = 3;
    double seconds = 1e9;     // a turn gets fewer rounds where they would take longer than this
    bool by_bytes = true;     // the limit of the row is a rate of copying: it must hold too
    double others_worth = 4;  // a peer this much slower than the fastest gets five rounds at most
    // The rates that the row rests on, measured now; empty = matrix products, and copying
    // (by_bytes).
    std::function<std::vector<double>()> basis = {};
};

// What the machine did meanwhile.
struct Conditions {
    Rates before, after;
    std::vector<double> basis_before = {}, basis_after = {};  // of Rounds::basis
    double others = 0;  // share of the processors that went to other processes; < 0 unknown
    double moved = 0;   // the worst drift of the rates that count
    int repeats = 0;    // measurements thrown away before this one
    bool quick = false;
    [[nodiscard]] bool has_ratios() const;  // the calibration held
    [[nodiscard]] bool is_judged() const;   // and no other program disturbed
};

// Throws Interrupted between rounds.
[[nodiscard]] Conditions measure(std::vector<Turn>& turns, const Rounds& limits,
                                 const BenchSettings& settings, const JobControl& control);

// "rates_before", "rates_after", "drift", "others", "contended", "repeats"
[[nodiscard]] nlohmann::json conditions_json(const Conditions& conditions);

struct Unit {
    const char* name = "ms";
    double in_a_second = 1e3;
};
// Adds "rounds", "least_UNIT", "median_UNIT"; with `over`, another turn, "ratio", "ratio_low",
// "ratio_high": its time over that one's. The caller says whose that is in "over".
void add_times(nlohmann::json& one, const Turn& turn, const Turn* over, const Unit& unit);

// " (found 1.95x)"; nothing where the row gives no ratios.
[[nodiscard]] std::string found_words(double found, const char* unit, const Conditions& conditions);

// {"words", "state"}: met, missed, or not judged.
[[nodiscard]] nlohmann::json verdict(const std::string& words, bool met, bool is_judged);

// The fastest peer meant among contestants {"name", "group", "precision", "ours", "ratio", "over"},
// or null. Ratios are over ours in the same precision, and over that alone.
[[nodiscard]] nlohmann::json best_of(const nlohmann::json& contestants, const Accept& meant);
// One verdict for each that has a peer.
void add_ratio_verdicts(nlohmann::json& verdicts, const std::vector<Accept>& accepts,
                        const nlohmann::json& contestants, bool is_judged);

}  // namespace aft::bench

// One row: {"kind": "race", "case", "limit_ms", "limit_by", "rates_before", "rates_after", "drift",
// "others", "contestants": [{"name", "precision", "ours", "error", "checked", "rounds", "least_ms",
// "median_ms", "x_limit" | "ratio", "ratio_low", "ratio_high"}], "best", "accept": [{"words",
// "state"}]}.
#include <ATen/ATen.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

#include "bench/calibrate.h"
#include "bench/peer.h"
#include "bench/statistics.h"
#include "bench/workload.h"

namespace aft::bench {
namespace {

using nlohmann::json;

// Ratios of peers this much slower than the fastest peer say nothing more after a few rounds.
constexpr double kFarBehind = 4;
constexpr int64_t kFewRounds = 5;

struct Runner {
    Contestant contestant;
    double error = 0;
    int64_t rounds = 0;
    std::vector<double> times = {};  // seconds
};

double seconds_of(const Contestant& contestant) {
    const auto start = std::chrono::steady_clock::now();
    const Tensors kept = contestant.run();
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    return time.count();
}

void check_errors(const Problem& problem, std::vector<Runner>& runners) {
    std::map<std::string, Tensors> wanted;  // by what is computed
    for (Runner& runner : runners) {
        const std::string key = runner.contestant.exact ? runner.contestant.group : "";
        if (!wanted.contains(key)) wanted[key] = exact(problem, runner.contestant.exact);
        runner.error = error_of(runner.contestant.run(), wanted[key]);
    }
}

// Warm-up, and the number of rounds of each: the full number unless far behind.
void plan(std::vector<Runner>& runners, const Settings& settings) {
    double fastest = INFINITY;
    std::vector<double> first;
    for (const Runner& runner : runners) {
        first.push_back(seconds_of(runner.contestant));
        if (!runner.contestant.ours) fastest = std::min(fastest, first.back());
    }
    for (std::size_t i = 0; i < runners.size(); ++i) {
        const bool behind = !runners[i].contestant.ours && first[i] > kFarBehind * fastest;
        runners[i].rounds = behind ? std::min(kFewRounds, settings.rounds) : settings.rounds;
    }
}

void interleave(std::vector<Runner>& runners, const Settings& settings, const JobControl& control) {
    for (int64_t round = 0; round < settings.rounds; ++round) {
        for (Runner& runner : runners) {
            if (control.stop.stop_requested()) throw Interrupted();
            if (round < runner.rounds) runner.times.push_back(seconds_of(runner.contestant));
        }
    }
}

json rates_json(const Rates& rates) {
    return {{"gemm_fp32_gflops", rates.gemm_fp32 * 1e-9},
            {"gemm_bf16_gflops", rates.gemm_bf16 * 1e-9},
            {"copy_gbs", rates.copy * 1e-9}};
}

double worst_drift(const Rates& a, const Rates& b) {
    return std::max(
        {drift(a.gemm_fp32, b.gemm_fp32), drift(a.gemm_bf16, b.gemm_bf16), drift(a.copy, b.copy)});
}

json runner_json(const Runner& runner, const Runner& ours, double limit, bool ratios) {
    const Summary time = summarize(runner.times);
    const Contestant& who = runner.contestant;
    json out{{"name", who.name},
             {"group", who.group},
             {"precision", who.precision},
             {"ours", who.ours},
             {"error", number(runner.error)},
             {"checked", who.exact ? "its own function, first sample" : "all"},
             {"rounds", runner.times.size()},
             {"least_ms", time.least * 1e3},
             {"median_ms", time.median * 1e3}};
    if (!ratios) return out;
    out["x_limit"] = time.median / limit;
    if (who.ours) return out;
    const Ratio over = ratio(runner.times, ours.times);
    out["ratio"] = over.of_medians;
    out["ratio_low"] = over.low;
    out["ratio_high"] = over.high;
    return out;
}

// What the machine did meanwhile.
struct Conditions {
    Rates before, after;
    double others = 0;  // share of the processors that went to other processes
    [[nodiscard]] double moved() const { return worst_drift(before, after); }
    [[nodiscard]] bool is_quiet() const { return others <= kContended && moved() <= kAllowedDrift; }
};
// A disturbed measurement is thrown away and taken again, this often.
constexpr int kRepeats = 2;

Conditions measure(std::vector<Runner>& runners, const Settings& settings,
                   const JobControl& control) {
    for (Runner& runner : runners) runner.times.clear();
    Conditions out;
    out.before = calibrate(settings.quick);
    const Neighbours neighbours;
    interleave(runners, settings, control);
    out.others = neighbours.share();
    out.after = calibrate(settings.quick);
    return out;
}

// The fastest peer of those meant, or null.
json best_of(const json& contestants, const Accept& meant) {
    json best;
    for (const json& one : contestants) {
        if (one["ours"] || !one.contains("ratio")) continue;
        if (!meant.group.empty() && one["group"] != meant.group) continue;
        if (!meant.precision.empty() && one["precision"] != meant.precision) continue;
        if (best.is_null() || one["median_ms"] < best["median_ms"]) best = one;
    }
    return best;
}

json accept_json(const Problem& problem, const json& contestants, bool is_quiet) {
    json all = json::array();
    const auto add = [&](const std::string& words, bool met) {
        all.push_back({{"words", words},
                       {"state", !is_quiet ? "not judged"
                                 : met     ? "met"
                                           : "missed"}});
    };
    const json& ours = contestants[0];
    if (problem.accept_x_limit > 0 && ours.contains("x_limit"))
        add(fmt::format("at most {}x limit", problem.accept_x_limit),
            ours["x_limit"] <= problem.accept_x_limit);
    for (const Accept& accept : problem.accept) {
        const json best = best_of(contestants, accept);
        if (best.is_null()) continue;
        const std::string whom =
            accept.group.empty() ? "the best peer" : "the best " + accept.group;
        add(fmt::format("at least {}x over {}{}{}", accept.ratio, whom,
                        accept.precision.empty() ? "" : " in ", accept.precision),
            best["ratio"] >= accept.ratio);
    }
    return all;
}

}  // namespace

json number(double value) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return "inf";
    return value;
}

json race(const Problem& problem, const Settings& settings, const JobControl& control) {
    std::vector<Runner> runners;
    for (Contestant& one : contestants(problem)) runners.push_back({.contestant = std::move(one)});
    check_errors(problem, runners);
    plan(runners, settings);
    Conditions now = measure(runners, settings, control);
    for (int again = 0; again < kRepeats && !now.is_quiet() && !settings.quick; ++again)
        now = measure(runners, settings, control);
    const auto& [before, after, others] = now;
    const Work work = work_of(problem);
    const double by_flop = work.flop / std::max(before.gemm_fp32, after.gemm_fp32);
    const double by_bytes = work.bytes / std::max(before.copy, after.copy);
    const double limit = std::max(by_flop, by_bytes), moved = now.moved();
    json contestants = json::array();
    for (const Runner& runner : runners)
        contestants.push_back(runner_json(runner, runners[0], limit, moved <= kAllowedDrift));
    return {{"kind", "race"},
            {"case", problem.name},
            {"limit_ms", limit * 1e3},
            {"limit_by", by_flop > by_bytes ? "products" : "bytes"},
            {"gflop", work.flop * 1e-9},
            {"megabytes", work.bytes * 1e-6},
            {"rates_before", rates_json(before)},
            {"rates_after", rates_json(after)},
            {"drift", number(moved)},
            {"others", others},
            {"contended", others > kContended},
            {"contestants", contestants},
            {"best", best_of(contestants, {})},
            {"accept", accept_json(problem, contestants, now.is_quiet())}};
}

}  // namespace aft::bench

// One row: {"kind": "race", "limit_ms", "limit_by", "gflop", "megabytes", "in_cache", the
// conditions (rounds.h), "contestants": [{"name", "group", "precision", "ours", "error", "checked",
// the times (rounds.h), "over", "x_limit"}], "best": [of each precision of ours], "accept"}. The
// limit of the row is the one in float32; the x_limit of bfloat16 is over the limit in bfloat16,
// "half_limit_ms".
#include <ATen/ATen.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

#include "bench/peers/peer.h"
#include "bench/timing/rounds.h"
#include "bench/workloads/workload.h"

namespace aft::bench {
namespace {

using nlohmann::json;

double seconds_of(const Contestant& contestant) {
    const auto start = std::chrono::steady_clock::now();
    const Tensors kept = contestant.run();
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    return time.count();
}

json described(const Problem& problem, const std::vector<Contestant>& all) {
    std::map<std::string, Tensors> wanted;  // by what is computed
    json list = json::array();
    for (const Contestant& one : all) {
        const std::string key = one.exact ? one.group : "";
        if (!wanted.contains(key)) wanted[key] = exact(problem, one.exact);
        list.push_back({{"name", one.name},
                        {"group", one.group},
                        {"precision", one.precision},
                        {"ours", one.ours},
                        {"error", number(error_of(one.run(), wanted[key]))},
                        {"checked", one.exact ? "its own function, first sample" : "all"}});
    }
    return list;
}

// By the definition, at the better of the rates before and after.
struct Limit {
    Cost cost;
    double by_flop = 0, by_bytes = 0;
    Limit(const Problem& problem, const std::string& precision, const Conditions& conditions)
        : cost(cost_of(problem)) {
        const Rates &a = conditions.before, &b = conditions.after;
        const bool is_bf16 = precision == "bf16";
        if (is_bf16) cost.bytes /= 2;  // its tensors are half as wide
        by_flop = cost.flop / (is_bf16 ? std::max(a.gemm_bf16, b.gemm_bf16)
                                       : std::max(a.gemm_fp32, b.gemm_fp32));
        by_bytes = cost.bytes / std::max(a.copy, b.copy);
    }
    [[nodiscard]] double seconds() const { return std::max(by_flop, by_bytes); }
};

bool rests_on_copying(const Problem& problem, const BenchSettings& settings) {
    Conditions now;
    now.before = now.after = settings.calibrator->rates();
    const Limit limit(problem, "fp32", now);
    return limit.by_bytes > limit.by_flop;
}

// Ours in the same precision: what a time is given over. None for ours themselves.
int over_of(const std::vector<Contestant>& all, std::size_t i) {
    if (all[i].ours) return -1;
    for (std::size_t j = 0; j < all.size(); ++j)
        if (all[j].ours && all[j].precision == all[i].precision) return static_cast<int>(j);
    return -1;
}

struct Raced {
    const Problem& problem;
    const std::vector<Contestant>& contestants;
    const std::vector<Turn>& turns;
    const Conditions& conditions;
};

void add_results(json& list, const Raced& of) {
    const bool has_ratios = of.conditions.has_ratios();
    for (std::size_t i = 0; i < of.turns.size(); ++i) {
        const int over = has_ratios ? over_of(of.contestants, i) : -1;
        const auto place = static_cast<std::size_t>(std::max(over, 0));
        add_times(list[i], of.turns[i], over < 0 ? nullptr : &of.turns[place], {});
        if (over >= 0) list[i]["over"] = of.contestants[place].name;
        if (!has_ratios) continue;
        const double limit =
            Limit(of.problem, of.contestants[i].precision, of.conditions).seconds();
        list[i]["x_limit"] = list[i]["median_ms"].get<double>() / (1e3 * limit);
    }
}

json accept_json(const Problem& problem, const json& contestants, bool is_judged) {
    json all = json::array();
    for (const json& one : contestants) {
        if (!one["ours"] || !one.contains("x_limit")) continue;
        const bool is_bf16 = one["precision"] == "bf16";
        const double bound = is_bf16 ? problem.accept_x_limit_bf16 : problem.accept_x_limit;
        if (bound == 0) continue;
        all.push_back(verdict(fmt::format("at most {}x limit{}", bound, is_bf16 ? " in bf16" : ""),
                              one["x_limit"] <= bound, is_judged));
    }
    add_ratio_verdicts(all, problem.accept, contestants, is_judged);
    return all;
}

json best_json(const json& contestants) {
    json all = json::array();
    for (const char* precision : {"fp32", "bf16"}) {
        const json best = best_of(contestants, {.group = "", .precision = precision});
        if (!best.is_null()) all.push_back(best);
    }
    return all;
}

}  // namespace

json number(double value) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return "inf";
    return value;
}

json race(const Problem& problem, const BenchSettings& settings, const JobControl& control) {
    if (control.stop.stop_requested()) throw Interrupted();
    const std::vector<Contestant> all = contestants(problem);
    json list = described(problem, all);
    std::vector<Turn> turns;
    for (const Contestant& one : all)
        turns.push_back({.round = [&one] { return seconds_of(one); }, .ours = one.ours});
    const Rounds limits{.by_bytes = rests_on_copying(problem, settings)};
    const Conditions conditions = measure(turns, limits, settings, control);
    const Limit limit(problem, "fp32", conditions);
    add_results(list, {problem, all, turns, conditions});
    json row{{"kind", "race"},
             {"limit_ms", limit.seconds() * 1e3},
             {"half_limit_ms", Limit(problem, "bf16", conditions).seconds() * 1e3},
             {"limit_by", limit.by_flop > limit.by_bytes ? "products" : "bytes"},
             {"gflop", limit.cost.flop * 1e-9},
             {"megabytes", limit.cost.bytes * 1e-6},
             {"in_cache", limit.cost.bytes <= static_cast<double>(last_level_cache())},
             {"contestants", list},
             {"best", best_json(list)},
             {"accept", accept_json(problem, list, conditions.is_judged())}};
    row.update(conditions_json(conditions));
    return row;
}

}  // namespace aft::bench

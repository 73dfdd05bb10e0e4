// One row: {"kind": "race", "case", "limit_ms", "limit_by", "gflop", "megabytes", "in_cache", the
// conditions (rounds.h), "contestants": [{"name", "group", "precision", "ours", "error", "checked",
// the times (rounds.h), "x_limit"}], "best", "accept"}.
#include <ATen/ATen.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

#include "bench/peer.h"
#include "bench/rounds.h"
#include "bench/workload.h"

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
    Work work;
    double by_flop = 0, by_bytes = 0;
    Limit(const Problem& problem, const Rates& a, const Rates& b)
        : work(work_of(problem)),
          by_flop(work.flop / std::max(a.gemm_fp32, b.gemm_fp32)),
          by_bytes(work.bytes / std::max(a.copy, b.copy)) {}
    [[nodiscard]] double seconds() const { return std::max(by_flop, by_bytes); }
};

bool rests_on_copying(const Problem& problem, const Settings& settings) {
    const Rates rates = settings.calibrator->rates();
    const Limit limit(problem, rates, rates);
    return limit.by_bytes > limit.by_flop;
}

json accept_json(const Problem& problem, const json& contestants, bool is_judged) {
    json all = json::array();
    const json& ours = contestants[0];
    if (problem.accept_x_limit > 0 && ours.contains("x_limit"))
        all.push_back(verdict(fmt::format("at most {}x limit", problem.accept_x_limit),
                              ours["x_limit"] <= problem.accept_x_limit, is_judged));
    add_ratio_verdicts(all, problem.accept, contestants, is_judged);
    return all;
}

}  // namespace

json number(double value) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return "inf";
    return value;
}

json race(const Problem& problem, const Settings& settings, const JobControl& control) {
    if (control.stop.stop_requested()) throw Interrupted();
    const std::vector<Contestant> all = contestants(problem);
    json list = described(problem, all);
    std::vector<Turn> turns;
    for (const Contestant& one : all)
        turns.push_back({.round = [&one] { return seconds_of(one); }, .ours = one.ours});
    const Pace pace{.by_bytes = rests_on_copying(problem, settings)};
    const Conditions conditions = measure(turns, pace, settings, control);
    const Limit limit(problem, conditions.before, conditions.after);
    for (std::size_t i = 0; i < turns.size(); ++i) {
        add_times(list[i], turns[i], conditions.has_ratios() ? turns.data() : nullptr, {});
        if (conditions.has_ratios())
            list[i]["x_limit"] = list[i]["median_ms"].get<double>() / (1e3 * limit.seconds());
    }
    json row{{"kind", "race"},
             {"case", problem.name},
             {"limit_ms", limit.seconds() * 1e3},
             {"limit_by", limit.by_flop > limit.by_bytes ? "products" : "bytes"},
             {"gflop", limit.work.flop * 1e-9},
             {"megabytes", limit.work.bytes * 1e-6},
             {"in_cache", limit.work.bytes <= static_cast<double>(last_level_cache())},
             {"contestants", list},
             {"best", best_of(list, {})},
             {"accept", accept_json(problem, list, conditions.is_judged())}};
    row.update(conditions_json(conditions));
    return row;
}

}  // namespace aft::bench

#include "bench/timing/rounds.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "bench/timing/statistics.h"
#include "core/system/foreign_cpu_load.h"

namespace aft::bench {
namespace {

using nlohmann::json;
using std::chrono::steady_clock;

constexpr int64_t kFewRounds = 5;
constexpr int kRepeats = 2;
constexpr double kLongest = 40;  // seconds: what took longer is not taken again

void plan(std::vector<Turn>& turns, const Rounds& limits, const BenchSettings& settings) {
    double fastest = INFINITY;
    for (Turn& turn : turns) {
        if (limits.warm_up && turn.first == 0) turn.first = turn.round();
        if (!turn.ours) fastest = std::min(fastest, turn.first);
    }
    for (Turn& turn : turns) {
        int64_t rounds = settings.rounds;
        if (!turn.ours && turn.first > limits.others_worth * fastest)
            rounds = std::min(rounds, kFewRounds);
        if (turn.first * static_cast<double>(rounds) > limits.seconds)
            rounds =
                std::max(static_cast<int64_t>(limits.seconds / turn.first), limits.least_rounds);
        turn.rounds = std::min(rounds, settings.rounds);
    }
}

void interleave(std::vector<Turn>& turns, const JobControl& control) {
    int64_t most = 0;
    for (Turn& turn : turns) {
        turn.times.clear();
        most = std::max(most, turn.rounds);
    }
    for (int64_t round = 0; round < most; ++round) {
        for (Turn& turn : turns) {
            if (control.stop.stop_requested()) throw Interrupted();
            if (round < turn.rounds) turn.times.push_back(turn.round());
        }
    }
}

double worst_drift(const Rates& a, const Rates& b, bool by_bytes) {
    const double products =
        std::max(drift(a.gemm_fp32, b.gemm_fp32), drift(a.gemm_bf16, b.gemm_bf16));
    return by_bytes ? std::max(products, drift(a.copy, b.copy)) : products;
}

double worst_drift(const std::vector<double>& a, const std::vector<double>& b) {
    double worst = 0;
    for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, drift(a[i], b[i]));
    return worst;
}

Conditions once(std::vector<Turn>& turns, const Rounds& limits, const BenchSettings& settings,
                const JobControl& control) {
    Conditions out;
    out.quick = settings.quick;
    out.before = settings.calibrator->rates();
    if (limits.basis) out.basis_before = limits.basis();
    const ForeignCpuLoad foreign_load;
    interleave(turns, control);
    out.others = foreign_load.share();
    if (limits.basis) out.basis_after = limits.basis();
    out.after = settings.calibrator->rates();
    out.moved = limits.basis ? worst_drift(out.basis_before, out.basis_after)
                             : worst_drift(out.before, out.after, limits.by_bytes);
    return out;
}

}  // namespace

bool Conditions::has_ratios() const {
    return moved <= kAllowedDrift;
}

bool Conditions::is_judged() const {
    return has_ratios() && others <= kContended && !quick;
}

Conditions measure(std::vector<Turn>& turns, const Rounds& limits, const BenchSettings& settings,
                   const JobControl& control) {
    if (control.stop.stop_requested()) throw Interrupted();
    plan(turns, limits, settings);
    const auto start = steady_clock::now();
    Conditions now = once(turns, limits, settings, control);
    const std::chrono::duration<double> took = steady_clock::now() - start;
    const bool affordable = !settings.quick && took.count() <= kLongest;
    while (affordable && now.repeats < kRepeats && !now.is_judged()) {
        const int repeats = now.repeats + 1;
        now = once(turns, limits, settings, control);
        now.repeats = repeats;
    }
    return now;
}

json conditions_json(const Conditions& conditions) {
    return {{"rates_before", rates_json(conditions.before)},
            {"rates_after", rates_json(conditions.after)},
            {"drift", number(conditions.moved)},
            {"has_ratios", conditions.has_ratios()},
            {"others", conditions.others},
            {"contended", conditions.others > kContended},
            {"repeats", conditions.repeats}};
}

void add_times(json& one, const Turn& turn, const Turn* over, const Unit& unit) {
    const Summary time = summarize(turn.times);
    one["rounds"] = turn.times.size();
    one[std::string("least_") + unit.name] = time.least * unit.in_a_second;
    one[std::string("median_") + unit.name] = time.median * unit.in_a_second;
    if (over == nullptr || over == &turn) return;
    const Ratio found = ratio(turn.times, over->times);
    one["ratio"] = found.of_medians;
    one["ratio_low"] = found.low;
    one["ratio_high"] = found.high;
}

std::string found_words(double found, const char* unit, const Conditions& conditions) {
    return conditions.has_ratios() ? fmt::format(" (found {:.2f}{})", found, unit) : "";
}

json verdict(const std::string& words, bool met, bool is_judged) {
    return {{"words", words}, {"state", !is_judged ? "not judged" : met ? "met" : "missed"}};
}

json best_of(const json& contestants, const Accept& meant) {
    json best;
    for (const json& one : contestants) {
        if (one["ours"] || !one.contains("ratio")) continue;
        if (!meant.group.empty() && one["group"] != meant.group) continue;
        if (!meant.precision.empty() && one["precision"] != meant.precision) continue;
        if (best.is_null() || one["ratio"] < best["ratio"]) best = one;
    }
    return best;
}

void add_ratio_verdicts(json& verdicts, const std::vector<Accept>& accepts, const json& contestants,
                        bool is_judged) {
    for (const Accept& accept : accepts) {
        const json best = best_of(contestants, accept);
        if (best.is_null()) continue;
        const double found = best["ratio"];
        verdicts.push_back(
            verdict(fmt::format("at least {}x over the best {}{}{} (found {:.2f}x)", accept.ratio,
                                accept.group.empty() ? "peer" : accept.group,
                                accept.precision.empty() ? "" : " in ", accept.precision, found),
                    found >= accept.ratio, is_judged));
    }
}

}  // namespace aft::bench

// Growth of time and memory with the length, forward, one sample of 256 channels. Inputs rotate
// through 65536 tokens, so that short sequences come from memory like long ones. One row:
// {"kind": "growth", "lengths", the conditions (rounds.h; the worst of all lengths),
// "contestants": [{"name", "group", "ours", "error", "points": [{"length", "rounds", "least_ms",
// "median_ms", "peak_bytes"} or {"length", "skipped"}]}], "accept"}.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>

#include "bench/peers/peer.h"
#include "bench/timing/peak.h"
#include "bench/timing/rounds.h"

namespace aft::bench {
namespace {

using nlohmann::json;
using std::chrono::steady_clock;

constexpr double kLongest = 20;                // seconds of one call
constexpr double kLargest = 12.0 * (1 << 30);  // bytes of one call
constexpr double kGrowth = 1.3, kOverAttention = 20;

struct GrowthCurve {
    std::string name, form, group;  // form: of the problem's forms; "afterimage" = ours
    ops::OperatorKind kind;
    bool is_quadratic = false;
    double error = 0, seconds = 0, bytes = 0;  // of the length before
    json points = json::array();
    [[nodiscard]] bool is_ours() const { return group == "ours"; }
};

std::vector<GrowthCurve> curves() {
    return {{"aft-simple", "afterimage", "ours", ops::OperatorKind::simple},
            {"aft-local, window 256", "afterimage", "ours", ops::OperatorKind::local},
            {"aft-conv1d, 16 heads, 31 taps", "afterimage", "ours", ops::OperatorKind::conv1d},
            {"softmax attention, flash", "attention flash fp32", "attention",
             ops::OperatorKind::softmax, true},
            {"linear attention, chunked", "linear attention fp32", "linear attention",
             ops::OperatorKind::linear},
            {"aft-local by einsum", "einsum fp32", "einsum", ops::OperatorKind::local, true}};
}

int64_t width_of(bool quick) {
    return quick ? 32 : 256;
}

struct Tokens {  // what all lengths are cut from
    int64_t length, width, window;
    ops::Inputs all;
    at::Tensor head_keys, taps;
    explicit Tokens(bool quick)
        : length(quick ? 256 : 65536), width(width_of(quick)), window(quick ? 16 : 256) {
        const Shape shape{"", 1, length, width, quick ? 8 : 64};
        all = make_problem(ops::OperatorKind::local, shape, {.causal = true, .window = window}).in;
        const int64_t heads = 16;
        head_keys = at::randn({1, length, heads});
        taps = at::randn({heads, quick ? 7 : 31}) * 0.5;
    }
    // Piece i of the tokens as a problem of length T.
    [[nodiscard]] Problem piece(ops::OperatorKind kind, int64_t T, int64_t i) const {
        Problem problem;
        problem.kind = kind;
        problem.options.causal = true;
        const auto cut = [&](const at::Tensor& x) { return x.narrow(1, i * T, T); };
        problem.in.q = cut(all.q);
        problem.in.k = cut(kind == ops::OperatorKind::conv1d ? head_keys : all.k);
        problem.in.v = cut(all.v);
        if (kind == ops::OperatorKind::conv1d) problem.in.w = taps;
        if (kind != ops::OperatorKind::local) return problem;
        problem.options.window = window;
        problem.in.u = all.u.narrow(0, 0, T);
        problem.in.r = all.r.narrow(0, 0, T);
        return problem;
    }
};

Form form_of(const Problem& problem, const std::string& name) {
    for (Form& form : forms_of(problem))
        if (form.name == name) return form;
    fail("bench: no form '{}'", name);
}

std::string reason_to_skip(const GrowthCurve& curve) {
    if (curve.is_ours()) return "";
    const double factor = curve.is_quadratic ? 4 : 2;
    if (curve.seconds * factor > kLongest) return fmt::format("over {} s", kLongest);
    if (curve.bytes * factor > kLargest) return "over 12 GiB";
    return "";
}

// One curve at one length, ready to take turns.
struct TimedCurve {
    GrowthCurve* curve = nullptr;
    std::vector<Contestant> pieces = {};  // what is timed walks through them
    size_t next = 0;
    double first = 0, peak = -1;
};

double timed(const Contestant& contestant, at::Tensor* result) {
    const auto begin = steady_clock::now();
    const Tensors kept = contestant.run();
    const std::chrono::duration<double> time = steady_clock::now() - begin;
    if (result != nullptr) *result = kept[0];
    return time.count();
}

// The second of two calls is measured: the first brings what libraries keep for good.
TimedCurve entered(GrowthCurve& curve, const Tokens& tokens, int64_t T) {
    TimedCurve entry{.curve = &curve};
    const Problem problem = tokens.piece(curve.kind, T, 0);
    const Form form = form_of(problem, curve.form);
    at::Tensor y;
    static_cast<void>(timed(contestant(problem, form), &y));
    const double error = tail_error(problem, y);
    if (std::isnan(error) || error > curve.error) curve.error = error;
    y.reset();
    const auto peak = peak_above([&] {
        entry.pieces.push_back(contestant(problem, form));
        entry.first = timed(entry.pieces[0], nullptr);
    });
    entry.peak = peak ? static_cast<double>(*peak) : -1;
    const int64_t pieces = form.table ? 1 : tokens.length / T;
    for (int64_t i = 1; i < pieces; ++i)
        entry.pieces.push_back(contestant(tokens.piece(curve.kind, T, i), form));
    return entry;
}

struct Worst {
    Conditions all;
    bool any = false;
    void add(const Conditions& one) {
        if (!any) all = one;
        any = true;
        all.after = one.after;
        all.moved = std::max(all.moved, one.moved);
        all.others = std::max(all.others, one.others);
        all.repeats = std::max(all.repeats, one.repeats);
    }
};

Conditions at_length(std::vector<TimedCurve>& entries, int64_t T, const BenchSettings& settings,
                     const JobControl& control) {
    std::vector<Turn> turns;
    for (TimedCurve& entry : entries)
        turns.push_back({.round =
                             [&entry] {
                                 entry.next = (entry.next + 1) % entry.pieces.size();
                                 return timed(entry.pieces[entry.next], nullptr);
                             },
                         .ours = entry.curve->is_ours(),
                         .first = entry.first});
    const Conditions conditions =
        measure(turns, {.least_rounds = 2, .seconds = 3, .by_bytes = false}, settings, control);
    for (size_t i = 0; i < entries.size(); ++i) {
        json point{{"length", T}};
        add_times(point, turns[i], nullptr, {});
        point["peak_bytes"] = entries[i].peak < 0 ? json(nullptr) : json(entries[i].peak);
        entries[i].curve->seconds = point["median_ms"].get<double>() * 1e-3;
        entries[i].curve->bytes = entries[i].peak;
        entries[i].curve->points.push_back(point);
    }
    return conditions;
}

double median_at(const GrowthCurve& curve, int64_t T) {  // ms; NaN where it was skipped
    for (const json& point : curve.points)
        if (point["length"] == T && point.contains("median_ms")) return point["median_ms"];
    return NAN;
}

json accept_json(const std::vector<GrowthCurve>& all, const std::vector<int64_t>& lengths,
                 const Conditions& conditions) {
    const bool is_judged = conditions.is_judged();
    json accept = json::array();
    const int64_t last = lengths.back(), from = last / 8;
    for (const GrowthCurve& curve : all) {
        if (!curve.is_ours()) continue;
        const double found = median_at(curve, last) / median_at(curve, from) / 8;
        accept.push_back(
            verdict(fmt::format("{}: at most {}x of linear scaling from T={} to {}{}", curve.name,
                                kGrowth, from, last, found_words(found, "x", conditions)),
                    found <= kGrowth, is_judged));
    }
    const GrowthCurve& attention =
        *std::find_if(all.begin(), all.end(),
                      [](const GrowthCurve& curve) { return curve.group == "attention"; });
    for (auto T = lengths.rbegin(); T != lengths.rend(); ++T) {
        const double peer = median_at(attention, *T);
        if (std::isnan(peer)) continue;
        for (const GrowthCurve& curve : {all[0], all[1]}) {
            const double found = peer / median_at(curve, *T);
            accept.push_back(
                verdict(fmt::format("{}: at least {}x attention at T={}{}", curve.name,
                                    kOverAttention, *T, found_words(found, "x", conditions)),
                        found >= kOverAttention, is_judged));
        }
        break;
    }
    return accept;
}

json row_of(const BenchSettings& settings, const JobControl& control) {
    const c10::NoGradGuard off;
    const Tokens tokens(settings.quick);
    std::vector<GrowthCurve> all = curves();
    std::vector<int64_t> lengths;
    for (int64_t T = tokens.length / 64 * (settings.quick ? 8 : 1); T <= tokens.length; T *= 2)
        lengths.push_back(T);
    Worst worst;
    for (const int64_t T : lengths) {
        std::vector<TimedCurve> entries;
        for (GrowthCurve& curve : all) {
            if (control.stop.stop_requested()) throw Interrupted();
            const std::string reason = reason_to_skip(curve);
            if (reason.empty())
                entries.push_back(entered(curve, tokens, T));
            else
                curve.points.push_back({{"length", T}, {"skipped", reason}});
        }
        worst.add(at_length(entries, T, settings, control));
    }
    json contestants = json::array();
    for (const GrowthCurve& curve : all)
        contestants.push_back({{"name", curve.name},
                               {"group", curve.group},
                               {"ours", curve.is_ours()},
                               {"precision", "fp32"},
                               {"error", number(curve.error)},
                               {"points", curve.points}});
    json row{{"kind", "growth"},
             {"lengths", lengths},
             {"contestants", contestants},
             {"accept", accept_json(all, lengths, worst.all)}};
    row.update(conditions_json(worst.all));
    return row;
}

std::vector<RowPlan> rows(bool quick) {
    return {{fmt::format("B=1 d={}, forward", width_of(quick)), row_of}};
}

}  // namespace

WorkloadRoom long_workload() {
    return {.info = {"long", "time and memory against the length, 1k to 64k tokens"}, .rows = rows};
}

}  // namespace aft::bench

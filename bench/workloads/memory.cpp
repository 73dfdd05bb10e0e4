// Peak memory above the inputs of one forward and backward pass.
#include <algorithm>

#include "bench/peers/peer.h"
#include "bench/timing/peak.h"
#include "bench/timing/rounds.h"

namespace aft::bench {
namespace {

using nlohmann::json;

// The second of two passes: the first brings what libraries keep for good.
json peak_of(const Problem& problem, const Form& form) {
    const std::function<Tensors()> pass = both_ways(problem, form);
    static_cast<void>(pass());
    const std::optional<int64_t> above = peak_above([&] { static_cast<void>(pass()); });
    json out{{"name", form.name}, {"group", form.group}, {"ours", form.group == "ours"}};
    out["peak_bytes"] = above ? json(*above) : json(nullptr);
    return out;
}

json accept(const json& peaks, bool quick) {
    for (const json& one : peaks) {
        if (one["name"] != "einsum fp32" || !one["peak_bytes"].is_number()) continue;
        const double share =
            peaks[0]["peak_bytes"].get<double>() / std::max(one["peak_bytes"].get<double>(), 1.0);
        return {verdict(fmt::format("at most 0.35x einsum fp32 (found {:.2f}x)", share),
                        share <= 0.35, !quick)};
    }
    return json::array();
}

json row_of(const Problem& problem, const BenchSettings& settings, const JobControl& control) {
    json peaks = json::array();
    for (const Form& form : forms_of(problem)) {
        if (control.stop.stop_requested()) throw Interrupted();
        if (form.name.find("math") != std::string::npos) continue;  // keeps every score: not a peer
        peaks.push_back(peak_of(problem, form));
    }
    return {{"kind", "memory"},
            {"input_bytes", problem.in.v.numel() * 3 * 4},
            {"contestants", peaks},
            {"accept", accept(peaks, settings.quick)}};
}

std::vector<RowPlan> rows(bool quick) {
    const Problem problem =
        backward_of(make_problem(ops::OperatorKind::local, quick ? tiny(kS1) : kS1,
                                 {.causal = true, .window = quick ? 8 : 256}));
    return {{problem.name, [problem](const BenchSettings& settings, const JobControl& control) {
                 return row_of(problem, settings, control);
             }}};
}

}  // namespace

WorkloadRoom memory_workload() {
    return {.info = {"memory",
                     "aft-local, window 256, causal: peak memory above the inputs, "
                     "forward and backward"},
            .rows = rows};
}

}  // namespace aft::bench

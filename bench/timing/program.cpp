#include "bench/timing/program.h"

#include "bench/timing/child.h"
#include "bench/timing/rounds.h"
#include "bench/timing/statistics.h"
#include "core/environment.h"

namespace aft::bench {
namespace {

using nlohmann::json;

json figure_json(const Figure& figure) {
    const Summary summary = summarize(figure.values);
    return {{"name", figure.name},      {"ours", true},
            {"unit", figure.unit},      {"least", summary.least},
            {"median", summary.median}, {"rounds", figure.values.size()}};
}

}  // namespace

json program_row(const std::vector<Figure>& figures, const Claim& claim,
                 const ForeignCpuLoad& around, bool quick) {
    const double others = around.share();
    json contestants = json::array();
    for (const Figure& figure : figures) contestants.push_back(figure_json(figure));
    return {{"kind", "program"},
            {"others", others},
            {"contended", others > kContended},
            {"contestants", contestants},
            {"accept", {verdict(claim.words, claim.is_met, others <= kContended && !quick)}}};
}

json unmeasured_row(const std::string& why) {
    return {{"kind", "program"},
            {"note", why},
            {"contestants", json::array()},
            {"accept", json::array()}};
}

std::string reason_to_skip(const BenchSettings& settings, bool needs_display) {
    if (settings.program.empty()) return "not measured: the program's file is not known";
    return needs_display && !has_display() ? "not measured: no display" : "";
}

}  // namespace aft::bench

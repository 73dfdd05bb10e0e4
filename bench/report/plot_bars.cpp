// One line for each of ours that has a limit or peers timed against it: our time over the limit of
// the machine, and the time of the best of these peers over ours.
#include <fmt/format.h>

#include <algorithm>

#include "bench/report/plot.h"
#include "bench/timing/rounds.h"

namespace aft::bench {
namespace {

using nlohmann::json;

constexpr double kLine = 34, kBar = 12, kFirst = 515, kSecond = 800, kBarWidth = 200;

struct BarGroup {
    std::string workload, name, ours, peer;
    double x_limit = 0, ratio = 0;  // 0 = none
    bool has_missed = false;        // of the whole row
};

bool is_over(const json& one, const std::string& name) {
    return one.contains("ratio") && one.contains("over") && one["over"] == name;
}

// The bars of one of our forms: its own limit, and the best of its peers.
BarGroup bars_of(const json& row, const json& ours) {
    BarGroup bars{.workload = "", .name = row["case"], .ours = ours["name"], .peer = ""};
    if (ours.contains("x_limit")) bars.x_limit = ours["x_limit"];
    json peers = json::array();
    for (const json& one : row["contestants"])
        if (is_over(one, bars.ours)) peers.push_back(one);
    const json best = best_of(peers, {});
    if (best.is_object()) {
        bars.ratio = best["ratio"];
        bars.peer = best["name"];
    }
    return bars;
}

std::vector<BarGroup> bars_of_row(const std::string& workload, const json& row) {
    std::vector<BarGroup> all;
    if (row["kind"] == "growth") return all;
    for (const json& one : row["contestants"]) {
        if (!one["ours"]) continue;
        BarGroup bars = bars_of(row, one);
        if (bars.x_limit == 0 && bars.ratio == 0) continue;
        if (all.empty()) {  // said once a row
            bars.workload = workload;
            for (const json& claim : row["accept"]) bars.has_missed |= claim["state"] == "missed";
        }
        all.push_back(bars);
    }
    return all;
}

std::vector<BarGroup> all_bars(const json& workloads) {
    std::vector<BarGroup> all;
    for (const json& workload : workloads)
        for (const json& row : workload["rows"])
            for (const BarGroup& bars : bars_of_row(workload["name"], row)) all.push_back(bars);
    return all;
}

void draw_bar(Svg& svg, const SvgRect& box, const std::string& words, const std::string& style) {
    svg.bar(box, style);
    svg.text({box.right() + 8, box.y + kBar - 2}, words, "t2");
}

}  // namespace

double draw_bars(Svg& svg, const json& workloads, double top) {
    const std::vector<BarGroup> all = all_bars(workloads);
    if (all.empty()) return top;
    double limits = 1, ratios = 1;
    for (const BarGroup& bars : all) {
        limits = std::max(limits, bars.x_limit);
        ratios = std::max(ratios, bars.ratio);
    }
    svg.text({kFirst, top + 18}, "Our time over the limit", "head t1");
    svg.text({kSecond, top + 18}, "Time of the best peer over ours", "head t1");
    double y = top + 34;
    const double end = y + kLine * static_cast<double>(all.size());
    for (const auto& [x, most] : {std::pair{kFirst, limits}, std::pair{kSecond, ratios}}) {
        svg.line({x, y}, {x, end}, "grid");
        svg.line({x + kBarWidth / most, y}, {x + kBarWidth / most, end}, "guide");
        svg.text({x + kBarWidth / most, end + 14}, "1", "small t3", TextAnchor::middle);
    }
    for (const BarGroup& bars : all) {
        svg.text({kPictureMargin, y + 14}, bars.workload, "strong t1");
        svg.text({kPictureMargin + 118, y + 14}, bars.workload.empty() ? "" : bars.name,
                 "small t3");
        const double below = bars.workload.empty() ? 14 : 28;  // another of the row above
        svg.text({kPictureMargin + 118, y + below}, bars.ours, "small t3");
        if (bars.x_limit > 0)
            draw_bar(svg, {kFirst, y + 4, kBarWidth * bars.x_limit / limits, kBar},
                     fmt::format("{:.2f}", bars.x_limit), "f1");
        if (bars.ratio > 0)
            draw_bar(svg, {kSecond, y + 4, kBarWidth * bars.ratio / ratios, kBar},
                     fmt::format("{:.1f}", bars.ratio), "f3");
        svg.text({kSecond, y + 28}, bars.peer, "small t3");
        if (bars.has_missed) svg.text({kFirst, y + 28}, "a target missed", "small f2");
        y += kLine;
    }
    return end + 20;
}

}  // namespace aft::bench

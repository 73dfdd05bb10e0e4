#include "bench/report/plot.h"

#include <fmt/format.h>

#include "bench/bench.h"

namespace aft::bench {

namespace {
constexpr double kTop = 76;  // below the title
}

std::string plot(const nlohmann::json& result) {
    const nlohmann::json& machine = result["machine"];
    Svg svg;
    const std::string title = "Afterimage on this machine";
    svg.text({kPictureMargin, 40}, title, "head t1");
    svg.text(
        {kPictureMargin, 60},
        fmt::format("{}, {} cores, {}, LibTorch {}, {}{}", machine["cpu"].get<std::string>(),
                    machine["cores"].get<int64_t>(), machine["cpu_capability"].get<std::string>(),
                    machine["libtorch"].get<std::string>(), result["date"].get<std::string>(),
                    result["quick"].get<bool>() ? ", tiny shapes: the times mean nothing" : ""),
        "t3");
    double bottom = kTop;
    for (const nlohmann::json& workload : result["workloads"])
        for (const nlohmann::json& row : workload["rows"])
            if (row["kind"] == "growth") bottom = draw_growth(svg, row, bottom + 16);
    const double bars = draw_bars(svg, result["workloads"], bottom + 16);
    if (bars <= kTop + 16) return "";
    bottom = bars;
    return svg.document(kPictureWidth, bottom + 20, title);
}

}  // namespace aft::bench

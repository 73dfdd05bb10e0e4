#include "bench/timing/statistics.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"

namespace aft::bench {

double quantile(std::vector<double> values, double p) {
    AFT_ASSERT(!values.empty());
    std::sort(values.begin(), values.end());
    const double place = p * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, values.size() - 1);
    return std::lerp(values[below], values[above], place - static_cast<double>(below));
}

Summary summarize(const std::vector<double>& values) {
    return {.least = quantile(values, 0), .median = quantile(values, 0.5)};
}

Ratio ratio(const std::vector<double>& peer, const std::vector<double>& ours) {
    std::vector<double> each(std::min(peer.size(), ours.size()));
    for (std::size_t i = 0; i < each.size(); ++i) each[i] = peer[i] / ours[i];
    return {.of_medians = quantile(peer, 0.5) / quantile(ours, 0.5),
            .low = quantile(each, 0.25),
            .high = quantile(each, 0.75)};
}

double drift(double before, double after) {
    const double least = std::min(before, after);
    return least > 0 ? std::max(before, after) / least - 1 : INFINITY;
}

}  // namespace aft::bench

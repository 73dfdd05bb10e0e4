// When a series has gone half of its way. Pure; any thread.
#pragma once
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>

namespace aft {

// The first place whose value is at least half of the whole change (last less first) away from the
// first one, in the direction of that change. None: the series does not change, has fewer than two
// values, or an end is no number.
[[nodiscard]] inline std::optional<size_t> half_way(std::span<const float> series) {
    if (series.size() < 2) return {};
    const double first = series.front(), change = double(series.back()) - first;
    if (!std::isfinite(change) || std::abs(change) <= 1e-6 * std::abs(first)) return {};
    for (size_t i = 1; i < series.size(); ++i)
        if ((double(series[i]) - first) / change >= 0.5) return i;
    return {};
}

}  // namespace aft

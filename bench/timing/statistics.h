// Statistics of interleaved rounds. Pure functions, any thread. No LibTorch.
#pragma once
#include <vector>

namespace aft::bench {

struct Summary {
    double least = 0, median = 0;
};
[[nodiscard]] Summary summarize(const std::vector<double>& values);  // at least one value

// The peer's time over ours: the ratio of medians, and the quartiles of the ratios of rounds that
// are adjacent in time.
struct Ratio {
    double of_medians = 0, low = 0, high = 0;
};
[[nodiscard]] Ratio ratio(const std::vector<double>& peer, const std::vector<double>& ours);

// Value at part `p` (0..1) of the sorted values, linear in between.
[[nodiscard]] double quantile(std::vector<double> values, double p);

// How far two calibrations are apart: |after / before - 1|, the smaller as the base.
[[nodiscard]] double drift(double before, double after);
inline constexpr double kAllowedDrift = 0.15;  // beyond it no ratio is given

}  // namespace aft::bench

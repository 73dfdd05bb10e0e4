// The change of a mean that was measured twice on the same examples: with its standard error, which
// is that of the differences and so without the spread between examples. Any thread, no state.
#pragma once
#include <cstdint>
#include <limits>
#include <span>

namespace aft {

struct PairedChange {
    double mean = 0;  // of after - before
    // sqrt(sum (d - mean)^2 / (n - 1) / n); NaN for fewer than two examples.
    double standard_error = std::numeric_limits<double>::quiet_NaN();
    int64_t count = 0;
    // Half of the interval that holds the mean with 95 % if the examples are drawn at random:
    // Student's t with n - 1 degrees of freedom, times the standard error.
    [[nodiscard]] double half_width_95() const;
};

// Of the first examples that both have.
[[nodiscard]] PairedChange paired_change(std::span<const double> before,
                                         std::span<const double> after);

}  // namespace aft

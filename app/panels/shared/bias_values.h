// Values of a position bias on the screen: their limits, their signs, their words. Pure functions;
// any thread.
#pragma once
#include <span>
#include <string>

#include "app/panels/shared/bias_map.h"

namespace aft::app {

[[nodiscard]] bool is_signed(Quantity quantity);
// Limits for a quantity: w symmetric, exp(w)-1 with its floor, the others from 0.
[[nodiscard]] Range quantity_limits(Quantity quantity, std::span<const float> values,
                                    double percentile, bool symmetric);
[[nodiscard]] std::string shown_value(Quantity quantity, double value);       // "+3.0254"
[[nodiscard]] std::string tap_words(const BiasForm& form, const Cell& cell);  // "-1, 0"
[[nodiscard]] std::string range_numbers(Range range);  // "-1 to 8.56e+08": as it is recorded

}  // namespace aft::app

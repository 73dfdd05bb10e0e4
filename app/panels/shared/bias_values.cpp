#include "app/panels/shared/bias_values.h"

#include <fmt/format.h>

#include "core/text.h"

namespace aft::app {

bool is_signed(Quantity quantity) {
    return quantity == Quantity::w || quantity == Quantity::exp_minus_one;
}

Range quantity_limits(Quantity quantity, std::span<const float> values, double percentile,
                      bool symmetric) {
    if (quantity == Quantity::w && !symmetric) return value_range(values, percentile, false);
    const Signs signs = quantity == Quantity::exp_minus_one ? Signs::above_minus_one
                        : is_signed(quantity)               ? Signs::both
                                                            : Signs::none;
    return map_range(values, signs, percentile);
}

std::string shown_value(Quantity quantity, double value) {
    if (quantity == Quantity::row_share) return plain_number(100 * value, 3) + " %";
    const std::string text = stored_value(value);
    return is_signed(quantity) && value > 0 && text.find_first_of("123456789") != std::string::npos
               ? "+" + text
               : text;
}

std::string tap_words(const BiasForm& form, const Cell& cell) {
    const auto number = [](int64_t v) { return signed_number(double(v), 0); };
    if (form.layout == BiasLayout::kernel_1d) return number(cell.tap + form.first_offset);
    return number(cell.tap / form.columns + form.first_offset) + ", " +
           number(cell.tap % form.columns + form.first_offset);
}

std::string range_numbers(Range range) {
    return significant(range.low, 6) + " to " + significant(range.high, 6);
}

}  // namespace aft::app

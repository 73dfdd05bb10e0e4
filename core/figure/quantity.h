// How maps of a quantity are drawn in figures: words, signs, scale and colours, as the window
// starts with. Pure, any thread.
#pragma once
#include <span>
#include <string>

#include "core/figure/scene.h"

namespace aft {

struct QuantityStyle {
    std::string words = {};  // "exp(w) - 1"
    Signs signs = Signs::none;
    Scale scale = Scale::linear;
    Colormap map = Colormap::viridis;
};
// quantity: the note of a probe's field ("w", "exp", "exp-1", ...); unit: of the field.
[[nodiscard]] QuantityStyle quantity_style(const std::string& quantity, const std::string& unit);

// Limits for these values; NaN and infinity are left out. percentile: 100 = up to the extremes.
[[nodiscard]] ColorKey color_key(const QuantityStyle& style, std::span<const float> values,
                                 double percentile);
// "linear from 0, up to the largest value"
[[nodiscard]] std::string scale_words(const QuantityStyle& style, double percentile);

// The least and the largest finite value, "-0.6 to 12.1".
struct ValueSpan {
    double low = 0, high = 0;
};
[[nodiscard]] ValueSpan value_span(std::span<const float> values);
[[nodiscard]] std::string span_words(const ValueSpan& span);

}  // namespace aft

#include "core/figure/quantity.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"

namespace aft {

QuantityStyle quantity_style(const std::string& quantity, const std::string& unit) {
    if (quantity == "exp-1")
        return {"exp(w) \u2212 1", Signs::above_minus_one, Scale::signed_log,
                Colormap::ember_light};
    if (quantity == "exp") return {"exp(w)"};
    if (quantity == "row-share") return {"share of the row"};
    if (unit == "nats")
        return {quantity.empty() ? "nats" : quantity, Signs::both, Scale::signed_linear,
                Colormap::ember_light};
    return {quantity.empty() ? unit : quantity};
}

ColorKey color_key(const QuantityStyle& style, std::span<const float> values, double percentile) {
    std::vector<float> finite;
    for (const float v : values)
        if (std::isfinite(v)) finite.push_back(v);
    Range range = map_range(finite, style.signs, percentile);
    if (style.signs == Signs::none)
        for (const float v : finite) range.low = std::min(range.low, double{v});
    return {{range, style.scale, style.map}};
}

std::string scale_words(const QuantityStyle& style, double percentile) {
    const std::string scale = style.scale == Scale::signed_log      ? "signed log"
                              : style.scale == Scale::signed_linear ? "linear round 0"
                                                                    : "linear";
    if (percentile >= 100)
        return scale + (style.signs == Signs::none ? ", up to the largest value"
                                                   : ", up to the largest magnitude");
    return fmt::format("{}, covers {} % of the values", scale, percentile);
}

ValueSpan value_span(std::span<const float> values) {
    ValueSpan span;
    bool any = false;
    for (const float v : values) {
        if (!std::isfinite(v)) continue;
        span.low = any ? std::min(span.low, double{v}) : v;
        span.high = any ? std::max(span.high, double{v}) : v;
        any = true;
    }
    return span;
}

std::string span_words(const ValueSpan& span) {
    return figure_number(span.low) + " to " + figure_number(span.high);
}

}  // namespace aft

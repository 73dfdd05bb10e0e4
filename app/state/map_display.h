// MapDisplay and AttentionLook: how maps are drawn. Plain data; window thread.
#pragma once
#include <optional>

#include "core/images/colormap.h"

namespace aft::app {

enum class Quantity { w, exp_minus_one, exp, row_share };
inline constexpr Quantity kQuantities[] = {Quantity::w, Quantity::exp_minus_one, Quantity::exp,
                                           Quantity::row_share};
[[nodiscard]] const char* quantity_words(Quantity quantity);  // "exp(w)−1": on screen
// "exp-1": ProbeRequest option "quantity".
[[nodiscard]] const char* quantity_option(Quantity quantity);

enum class Gauge { fixed, raw };  // option "gauge"
[[nodiscard]] const char* gauge_option(Gauge gauge);

enum class RangeMode { own, layer, global };  // whose values the limits of a map come from

// What stands for the values of a block, where a map has more of them than pixels: the one of the
// largest magnitude, or their mean.
enum class BlockValue { extreme, mean };

// By what the Atlas sorts its maps.
enum class OrderKey { position, rms, entropy, distance, change, alike };

// How the maps of biases are drawn.
struct MapDisplay {
    Quantity quantity = Quantity::exp_minus_one;
    Gauge gauge = Gauge::fixed;
    RangeMode range_mode = RangeMode::layer;
    Scale scale = Scale::signed_log;
    double percentile = kMapPercentile;  // limits of maps; 100 = full range
    bool symmetric = true;               // low = -high for signed quantities
    std::optional<Range> range_by_hand{};
    bool difference_to_pin = false, flicker = false;
    OrderKey order = OrderKey::position;
    BlockValue block_value = BlockValue::extreme;
};

struct AttentionLook {          // how the maps of Attention and Keys are drawn
    int scale = 1, colors = 0;  // linear, root, log; viridis, cividis, grey
    bool over_image = false;    // the picture lies under the map
    double opacity = 60;        // of the map over it, percent
    [[nodiscard]] bool operator==(const AttentionLook&) const = default;
};

}  // namespace aft::app

#include "core/compare/layer_compare.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace aft {

LayerComparison compare_heads(const HeadMaps& a, const HeadMaps& b, bool matches) {
    LayerComparison out;
    const HeadScores scores = correlate_heads(a, b);
    out.matching = matches ? match_heads(scores) : same_order(scores);
    for (const HeadMatch& pair : out.matching.pairs)
        out.heads.push_back(map_distance(a.head(pair.a), b.head(pair.b)));
    out.all = together(out.heads);
    return out;
}

double share_of_gauge(const HeadMaps& raw_a, const HeadMaps& raw_b, const LayerComparison& fixed) {
    double raw = 0;
    for (const HeadMatch& pair : fixed.matching.pairs)
        raw = std::hypot(raw, map_distance(raw_a.head(pair.a), raw_b.head(pair.b)).norm_change);
    if (!(raw > 0)) return std::numeric_limits<double>::quiet_NaN();
    const double ratio = fixed.all.norm_change / raw;
    return std::max(0.0, 1 - ratio * ratio);
}

}  // namespace aft

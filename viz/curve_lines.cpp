#include "viz/curve_lines.h"

#include <algorithm>
#include <cmath>

#include "viz/curve_card.h"

namespace aft::viz {
namespace {

// Continues the smoothed column where it ended.
void append_smoothed(CurveCache::CachedCurve& kept, const Curve& curve) {
    const size_t from = kept.smoothed.size();
    const size_t to = std::min(curve.y.size(), from + kRowsPerFrame);
    for (size_t row = from; row < to; ++row) {
        double v = curve.y[row];
        if (!std::isnan(v)) {
            kept.sum = curve.smoothing * kept.sum + (1 - curve.smoothing) * v;
            kept.norm = curve.smoothing * kept.norm + (1 - curve.smoothing);
            v = kept.sum / kept.norm;
        }
        kept.smoothed.push_back(v);
    }
}

void refresh(CurveCache::CachedCurve& kept, const Curve& curve, const PlotColumns& cut) {
    const NumberColumn &x = *curve.x.column(), &y = *curve.y.column();
    const bool is_longer = y.continues(kept.y) && x.continues(kept.x);
    if (!is_longer || kept.smoothing != curve.smoothing) {
        kept = {};
    } else if (kept.y.size() == y.size() && kept.x.size() == x.size() && kept.cut == cut &&
               !kept.has_more()) {
        return;
    }
    kept.x = x;
    kept.y = y;
    kept.cut = cut;
    kept.smoothing = curve.smoothing;
    if (curve.smoothing > 0) append_smoothed(kept, curve);
    kept.raw = curve.smoothing > 0 ? decimate(x, y, cut) : std::vector<PlotPoint>();
    kept.main = decimate(x, curve.smoothing > 0 ? kept.smoothed : y, cut);
}

}  // namespace

std::vector<PlotLine> make_lines(const CurvePlot& plot, const PlotColumns& cut) {
    std::vector<PlotLine> lines;
    if (plot.cache != nullptr) plot.cache->curves.resize(plot.curves.size());
    for (size_t i = 0; i < plot.curves.size(); ++i) {
        const Curve& curve = plot.curves[i];
        PlotLine line;
        line.curve = &curve;
        std::vector<double> smoothed;
        Curve on_top{.x = curve.x, .y = curve.y};
        if (plot.cache != nullptr && curve.x.column() && curve.y.column()) {
            CurveCache::CachedCurve& kept = plot.cache->curves[i];
            refresh(kept, curve, cut);
            line.main = kept.main;
            line.raw = kept.raw;
            line.has_more = kept.has_more();
            if (curve.smoothing > 0) on_top.y = kept.smoothed;
        } else if (curve.smoothing > 0) {
            smoothed = smooth(curve.y, curve.smoothing);
            on_top.y = smoothed;
            line.main = decimate(curve.x, smoothed, cut);
            line.raw = decimate(curve.x, curve.y, cut);
        } else {
            line.main = decimate(curve.x, curve.y, cut);
        }
        line.low = decimate(curve.x, curve.low, cut);
        line.high = decimate(curve.x, curve.high, cut);
        if (const auto end = point_before(on_top, cut.high)) line.last = end->y;
        lines.push_back(std::move(line));
    }
    return lines;
}

std::string end_label(const PlotLine& line) {
    const Curve& curve = *line.curve;
    if (curve.label.empty() || !std::isfinite(line.last)) return curve.label;
    return curve.label + " " + curve_number(line.last, curve.decimals) +
           (curve.smoothing > 0 ? " smoothed" : "");
}

}  // namespace aft::viz

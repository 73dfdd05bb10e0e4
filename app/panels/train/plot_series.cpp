#include "app/panels/train/plot_series.h"

#include <algorithm>
#include <cmath>

namespace aft::app {

bool PlotSeries::refresh(const Curves& curves, bool loss_in_bits) {
    if (!curves.step.continues(step) || in_bits != loss_in_bits) *this = {};
    in_bits = loss_in_bits;
    step = curves.step;
    const size_t from = rows, to = std::min(step.size(), from + kRowsPerFrame);
    if (from == to) return false;
    rows = to;
    const double unit = in_bits ? 1 / std::log(2.0) : 1;
    const auto each = [&](const char* name, const auto& add) {
        const auto found = curves.columns.find(name);
        if (found == curves.columns.end()) return;
        for (size_t i = from; i < std::min(to, found->second.size()); ++i) add(i, found->second[i]);
    };
    // A column may have begun with these rows: what was before is missing.
    const auto put = [](NumberColumn& to_column, size_t row, double value) {
        while (to_column.size() < row) to_column.push_back(std::nan(""));
        to_column.push_back(value);
    };
    each("loss", [&](size_t i, double v) { put(train, i, v * unit); });
    each("validation.loss", [&](size_t i, double v) {
        if (!std::isfinite(v)) return;
        validation_step.push_back(step[i]);
        validation.push_back(v * unit);
    });
    each("timing.step_ms",
         [&](size_t i, double v) { put(speed, i, v > 0 ? 1000 / v : std::nan("")); });
    return to < step.size();
}

}  // namespace aft::app

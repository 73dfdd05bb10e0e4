#include "app/state/selection.h"

#include <algorithm>
#include <utility>

#include "app/state/probe_options.h"

namespace aft::app {

const char* quantity_words(Quantity quantity) {
    switch (quantity) {
        case Quantity::w:
            return "w";
        case Quantity::exp_minus_one:
            return "exp(w)\u22121";
        case Quantity::exp:
            return "exp(w)";
        case Quantity::row_share:
            return "row share";
    }
    return "w";
}

const char* quantity_option(Quantity quantity) {
    return kQuantityOption.name("bias", quantity).c_str();
}

const char* gauge_option(Gauge gauge) {
    return kGaugeOption.name("bias", gauge).c_str();
}

void Selection::point(const Cell& at) {
    hover = at;
    if (!locked) cell = at;
}

void Selection::lock(const Cell& at) {
    cell = at;
    locked = true;
}

bool Selection::unlock() {
    return std::exchange(locked, false);
}

void Selection::pin(int64_t step_now) {
    const Cell& at = shown();
    pins.push_back({at, step_now, cell_words(at)});
}

void Selection::clamp(const Status& status, int64_t heads) {
    const auto layers = static_cast<int64_t>(status.layers.size());
    const int64_t tokens = status.tokens;
    cell.layer = layers == 0 ? 0 : std::clamp<int64_t>(cell.layer, 0, layers - 1);
    if (cell.head >= heads) cell.head = heads - 1;
    if (cell.channel >= status.config.model.dim) cell.channel = -1;
    if (cell.target >= tokens) cell.target = -1;
    if (cell.source >= tokens) cell.source = -1;
    hover.reset();
}

KeptView kept_view(const Selection& selection) {
    const bool is_signed_log = selection.scale == Scale::signed_log;
    return {.quantity = static_cast<int>(selection.quantity),
            .gauge = static_cast<int>(selection.gauge),
            .range_mode = static_cast<int>(selection.range_mode),
            .scale = is_signed_log ? 0 : 1,
            .tool = static_cast<int>(selection.completion.tool),
            .brush = selection.completion.brush};
}

void restore_view(Selection& selection, const KeptView& view) {
    selection.quantity = static_cast<Quantity>(view.quantity);
    selection.gauge = static_cast<Gauge>(view.gauge);
    selection.range_mode = static_cast<RangeMode>(view.range_mode);
    if (view.scale >= 0) selection.scale = view.scale == 0 ? Scale::signed_log : Scale::two_sided;
    selection.completion.tool = static_cast<viz::PaintTool>(view.tool);
    selection.completion.brush = view.brush;
}

}  // namespace aft::app

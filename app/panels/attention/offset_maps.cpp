#include "app/panels/attention/offset_maps.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "app/panels/shared/sample_input.h"

namespace aft::app {

namespace {

// As many targets as one answer may cost: exponentials of the worker, of large models evenly spread
// targets.
int64_t asked_targets(const Status& status) {
    constexpr double kBudget = 1e8;
    const double one = double(status.tokens) * double(status.config.model.inner_width());
    const int64_t cells = std::max<int64_t>(1, status.grid_height * status.grid_width);
    return std::clamp<int64_t>(int64_t(kBudget / std::max(1.0, one)), 1, cells);
}

}  // namespace

// The versions continue: what was painted of the model before is not taken for the next one's.
void OffsetMaps::clear() {
    const uint64_t version = version_;
    *this = OffsetMaps();
    version_ = version;
}

viz::MapData OffsetMaps::data(size_t map) const {
    const OffsetMap& of = maps_[map];
    return {of.values, rows_, columns_, of.hidden, version_ * 4096 + map};
}

void OffsetMaps::update(const PaneContext& ui, const OffsetRequest& request) {
    ProbeRequest probe;
    probe.probe = "relative-attention";
    probe.step = ui.selection.step;
    probe.layer = request.layer;
    probe.tokens = sample_tokens(ui);
    kPartOption.set(probe, request.part);
    kOffsetReduceOption.set(probe, request.reduce);
    kVisibleOption.set(probe, HiddenSources::nan);
    probe.options[kTargetsOption] = std::to_string(asked_targets(ui.status));
    constexpr double kHold_s = 2;  // every target of a picture: much work beside a training
    AskTurn turn;
    if (watch_.update(ui, probe, turn, kHold_s)) take();
}

void OffsetMaps::take() {
    const Field& field = watch_.fields()->fields.front();
    maps_.clear();
    if (field.shape.size() != 3) return;
    rows_ = field.shape[1];
    columns_ = field.shape[2];
    is_by_channel_ = field.axes.front() == "channel";
    const auto targets = field.notes.find("targets");
    targets_ = targets == field.notes.end() ? "" : targets->second;
    const auto cells = size_t(rows_ * columns_);
    float top = 0;
    for (size_t map = 0; map < size_t(field.shape[0]); ++map) {
        const auto first = field.values.begin() + ptrdiff_t(map * cells);
        OffsetMap out;
        out.values.assign(first, first + ptrdiff_t(cells));
        out.hidden.resize(cells);
        for (size_t i = 0; i < cells; ++i) {
            out.hidden[i] = std::isnan(out.values[i]) ? 1 : 0;
            if (out.hidden[i] != 0) out.values[i] = 0;
            top = std::max(top, out.values[i]);
        }
        maps_.push_back(std::move(out));
    }
    range_ = {0, std::max(1e-9, double(top))};
    ++version_;
}

float offset_share(const OffsetMaps& maps, size_t map, int64_t row, int64_t column) {
    const bool is_in = map < maps.maps().size() && row >= 0 && row < maps.rows() && column >= 0 &&
                       column < maps.columns();
    if (!is_in) return std::numeric_limits<float>::quiet_NaN();
    const auto i = size_t(row * maps.columns() + column);
    return maps.maps()[map].hidden[i] != 0 ? std::numeric_limits<float>::quiet_NaN()
                                           : maps.maps()[map].values[i];
}

}  // namespace aft::app

#include "app/panels/attention/trace_data.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "app/panels/attention/attention_data.h"
#include "app/panels/shared/sample_input.h"

namespace aft::app {

namespace {

constexpr double kTraceRest_s = 0.15;  // all layers cost as much as many targets of one
constexpr double kTraceHold_s = 2;     // between two looks while training runs

std::vector<float> row_of(const Field& field, int64_t layer) {
    const auto T = ptrdiff_t(field.shape.at(1));
    const auto first = field.values.begin() + ptrdiff_t(layer) * T;
    return {first, first + T};
}

std::vector<TraceSource> sources_of(const Field& field, int64_t layer) {
    const auto count = size_t(field.shape.at(1)), columns = size_t(field.shape.at(2));
    std::vector<TraceSource> out;
    for (size_t i = 0; i < count; ++i) {
        const float* const row = &field.values.at((size_t(layer) * count + i) * columns);
        if (!(row[1] > 0)) continue;
        TraceSource source{.position = int64_t(row[0]), .share = row[1]};
        if (columns > 2) source.prior = row[2];
        out.push_back(source);
    }
    return out;
}

}  // namespace

std::optional<double> TraceSource::keys_factor() const {
    if (!prior || !(*prior > 0)) return std::nullopt;
    return share / *prior;
}

std::optional<TraceSource> TraceRow::source(int64_t position) const {
    const auto j = size_t(position);
    if (position < 0 || j >= shares.size() || std::isnan(shares[j])) return std::nullopt;
    TraceSource out{.position = position, .share = shares[j]};
    if (j < prior.size()) out.prior = prior[j];
    return out;
}

bool TraceRow::is_masked(int64_t position) const {
    return position >= 0 && size_t(position) < masked.size() && masked[size_t(position)] != 0;
}

float TraceRow::shown_share(const Positions& positions, int64_t position) const {
    if (position < 0 || size_t(position) >= shares.size())
        return std::numeric_limits<float>::quiet_NaN();
    const FoldPlace at = fold_place(positions, positions.source(position));
    return at.row < 0 ? shares[size_t(position)] : value_at(folded, at);
}

// masked: [layers, T], 1 = a mask hides it; null = none.
static void fold_shares(const Status& status, const Field* masked, int64_t target, TraceRow& row) {
    const std::vector<float> hidden =
        masked != nullptr ? row_of(*masked, row.layer) : std::vector<float>();
    for (size_t j = 0; j < std::min(hidden.size(), row.shares.size()); ++j)
        if (hidden[j] != 0) row.shares[j] = std::numeric_limits<float>::quiet_NaN();
    AttentionMap map{row.shares, fold_row(Positions(status), row.shares, -1)};
    ProbeRequest of;
    of.layer = row.layer;
    of.position = target;
    if (!hidden.empty()) mark_masked(status, of, map);
    row.folded = std::move(map.folded);
    row.masked = std::move(map.masked);
}

const TraceRow* TraceData::row(int64_t layer) const {
    for (const TraceRow& one : rows_)
        if (one.layer == layer) return &one;
    return nullptr;
}

void TraceData::take(const PaneContext& ui) {
    const FieldSet& set = *watch_.fields();
    const Positions positions(ui.status);
    const Field& trace = set.fields.front();
    const Field* const prior = set.find("prior");
    const Field* const kept = set.find("kept");
    const Field* const strongest = set.find("strongest");
    const int64_t target = watch_.shown().position;
    rows_.clear();
    ++version_;
    for (int64_t layer = trace.shape.at(0) - 1; layer >= 0; --layer) {
        TraceRow row{.layer = layer, .is_alone = trace.notes.at("layers") == "alone"};
        row.shares = row_of(trace, layer);
        if (prior != nullptr) row.prior = row_of(*prior, layer);
        if (kept != nullptr) row.kept = kept->values.at(size_t(layer));
        if (strongest != nullptr) row.strongest = sources_of(*strongest, layer);
        for (size_t j = 0; j < row.shares.size(); ++j)
            if (positions.is_causal && int64_t(j) > target)
                row.shares[j] = std::numeric_limits<float>::quiet_NaN();
        fold_shares(ui.status, set.find("masked"), target, row);
        row.folded.version = version_;
        for (const float share : row.folded.values) row.top = std::max<double>(row.top, share);
        rows_.push_back(std::move(row));
    }
}

void TraceData::set_cancelled(const PaneContext& ui, bool is_cancelled) {
    watch_.set_cancelled(ui, is_cancelled);
    asked_at_ = -1;
}

void TraceData::update(PaneContext& ui, TracedLayers layers, ResidualShare residual) {
    ProbeRequest request;
    request.probe = "trace";
    request.step = ui.selection.step;
    request.position = ui.selection.cell.target;
    request.tokens = sample_tokens(ui);
    kTracedLayersOption.set(request, layers);
    if (layers == TracedLayers::chained) kResidualOption.set(request, residual);
    if (request.position != target_ && !rows_.empty()) rest_until_ = ui.time + kTraceRest_s;
    target_ = request.position;
    if (ui.time < rest_until_) {
        watch_.want(request);
        ui.want_frame_at(rest_until_);
        return;
    }
    AskTurn turn;
    // The worker is of all panes: while training runs, it rests from traces as long as one takes.
    const bool is_new = watch_.update(ui, request, turn, std::max(kTraceHold_s, took_));
    if (watch_.is_pending() && asked_at_ < 0) asked_at_ = ui.time;
    if (!is_new) return;
    took_ = asked_at_ < 0 ? 0 : ui.time - std::exchange(asked_at_, -1);
    take(ui);
}

}  // namespace aft::app

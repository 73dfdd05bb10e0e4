#include "app/panels/attention/attention_data.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "app/panels/shared/bias_map.h"
#include "app/panels/shared/sample_input.h"

namespace aft::app {

double largest_share(const AttentionData& data, bool with_content) {
    double top = 1e-9;
    for (const AttentionMap* map : {&data.rows().prior, &data.rows().content, &data.rows().both})
        for (const float share : map->folded.values)
            if (map != &data.rows().content || with_content) top = std::max<double>(top, share);
    return top;
}

float shown_share(const Positions& positions, const AttentionMap& map, int64_t source) {
    if (source < 0 || size_t(source) >= map.row.size())
        return std::numeric_limits<float>::quiet_NaN();
    const FoldPlace at = fold_place(positions, positions.source(source));
    return at.row < 0 ? map.row[size_t(source)] : value_at(map.folded, at);
}

double divergence_bits(std::span<const float> row, std::span<const float> from) {
    double sum = 0;
    for (size_t j = 0; j < std::min(row.size(), from.size()); ++j)
        if (row[j] > 0 && from[j] > 0) sum += row[j] * std::log2(double(row[j]) / from[j]);
    return std::max(0.0, sum);
}

RowNumbers row_numbers(const Positions& positions, const AttentionMap& map, int64_t target,
                       int64_t window) {
    RowNumbers out;
    const Positions::GridPosition t = positions.target(target);
    double on_grid = 0;
    for (size_t j = 0; j < map.row.size(); ++j) {
        const double share = map.row[j];
        if (!(share > 0)) continue;
        out.entropy -= share * std::log2(share);
        if (window > 0 && std::abs(target - int64_t(j)) < window) out.inside += share;
        const Positions::GridPosition p = positions.source(int64_t(j));
        if (!p.is_on_grid() || !t.is_on_grid()) continue;
        out.distance +=
            share * (positions.is_text ? std::abs(double(t.x - p.x))
                                       : std::hypot(double(t.y - p.y), double(t.x - p.x)));
        on_grid += share;
    }
    if (on_grid > 0) out.distance /= on_grid;
    return out;
}

void mark_masked(const Status& status, const ProbeRequest& of, AttentionMap& map) {
    map.masked.clear();
    map.folded.masked.clear();
    const BiasForm form(status, of.layer);
    if (form.layout == BiasLayout::none || form.is_kernel()) return;
    // Of weights that are no numbers, the whole row is none.
    if (std::all_of(map.row.begin(), map.row.end(), [](float x) { return std::isnan(x); })) return;
    const BiasVisibility& sees = form.visibility;
    const Positions positions(status);
    for (size_t j = 0; j < map.row.size(); ++j) {
        const int64_t ahead = int64_t(j) - of.position;
        const bool is_outside =
            sees.hides_outside && sees.window > 0 && std::abs(ahead) >= sees.window;
        if (!std::isnan(map.row[j]) || (sees.is_causal && ahead > 0) || is_outside) continue;
        map.masked.resize(map.row.size());
        map.masked[j] = 1;
        const FoldPlace at = fold_place(positions, positions.source(int64_t(j)));
        const auto i = size_t(at.row * map.folded.columns + at.column);
        if (at.row < 0 || i >= map.folded.hidden.size() || map.folded.hidden[i] == 0) continue;
        map.folded.masked.resize(map.folded.hidden.size());
        map.folded.masked[i] = 1;
    }
}

bool AttentionData::is_pending() const {
    return watches_.both.is_pending() || watches_.prior.is_pending() ||
           watches_.content.is_pending();
}

void AttentionData::take_part(const ModelView& ui, const Watch& watch, AttentionMap& out) {
    const Positions positions(ui.status);
    const Field& field = watch.fields()->fields.front();
    const auto width = size_t(field.shape.empty() ? 0 : field.shape.back());
    out.row.assign(field.values.begin(), field.values.begin() + ptrdiff_t(width));
    out.folded = fold_row(positions, out.row, -1);
    out.folded.version = ++maps_;
    mark_masked(ui.status, watch.shown(), out);
}

// The reduced row is made here out of all channels, so that changing it needs no new answer.
void AttentionData::take_both(const ModelView& ui, const Request& request) {
    const FieldSet& set = *watches_.both.fields();
    const Field& a = set.fields.front();
    const Field* const gate = set.find("gate");
    const Field* const sharp = set.find("sharpness");
    if (a.shape.size() != 2) return;
    const auto rows = size_t(a.shape[0]), width = size_t(a.shape[1]);
    const auto value = [](const Field* f, size_t c) {
        return f != nullptr && c < f->values.size() ? double(f->values[c]) : 1.0;
    };
    std::vector<double> sum(width, 0);
    double weight = 0;
    rows_.is_by_head = !a.axes.empty() && a.axes.front() == "head";
    rows_.has_gates = !rows_.is_by_head && ui.status.mixer.has_gate;
    for (size_t c = 0; c < rows; ++c) {
        const bool chosen = request.reduce != Reduce::channel || int64_t(c) == request.channel;
        const double w = !chosen ? 0 : request.reduce == Reduce::gate ? value(gate, c) : 1;
        weight += w;
        for (size_t j = 0; w > 0 && j < width; ++j) sum[j] += w * a.values[c * width + j];
    }
    rows_.both.row.resize(width);
    for (size_t j = 0; j < width; ++j) rows_.both.row[j] = float(sum[j] / std::max(1e-30, weight));
    // 0 * NaN: what no channel sees stays not visible even when no channel was chosen.
    for (size_t j = 0; j < width && rows > 0; ++j)
        if (std::isnan(a.values[j])) rows_.both.row[j] = std::numeric_limits<float>::quiet_NaN();
    rows_.both.folded = fold_row(Positions(ui.status), rows_.both.row, -1);
    rows_.both.folded.version = ++maps_;
    mark_masked(ui.status, watches_.both.shown(), rows_.both);
    rows_.channels.clear();
    for (size_t c = 0; c < rows; ++c) {
        const std::span<const float> row(a.values.data() + c * width, width);
        rows_.channels.push_back(
            {int64_t(c), value(gate, c), value(sharp, c),
             rows_.prior.row.empty() ? NAN : divergence_bits(row, rows_.prior.row)});
    }
    sort(order_);
    ++rows_.version;
}

void AttentionData::sort(Order order) {
    order_ = order;
    const auto key = [order](const AttentionChannel& c) {
        return order == Order::gate        ? c.gate
               : order == Order::sharpness ? c.sharpness
                                           : c.divergence;
    };
    const auto number = [&](const AttentionChannel& c) {
        return std::isnan(key(c)) ? 0 : key(c);  // the prior has not been read
    };
    std::stable_sort(rows_.channels.begin(), rows_.channels.end(),
                     [&](const auto& x, const auto& y) { return number(x) > number(y); });
}

void AttentionData::update(PaneContext& ui, const Request& request) {
    ProbeRequest probe;
    probe.probe = "attention";
    probe.step = ui.selection.step;
    probe.layer = request.layer;
    probe.position = request.target;
    probe.tokens = sample_tokens(ui);
    kPartOption.set(probe, AttentionPart::both);
    kVisibleOption.set(probe, HiddenSources::nan);
    AskTurn turn;
    const bool new_both = watches_.both.update(ui, probe, turn);
    const auto part = [&](AttentionPart name, Watch& watch, AttentionMap& map) {
        kPartOption.set(probe, name);
        kReduceOption.set(probe, request.reduce);
        probe.channel = request.reduce == Reduce::channel ? request.channel : -1;
        if (!watch.update(ui, probe, turn)) return false;
        take_part(ui, watch, map);
        return true;
    };
    const bool has_prior = ui.status.mixer.has_prior();
    const bool new_prior =
        request.prior && has_prior && part(AttentionPart::prior, watches_.prior, rows_.prior);
    if (request.content) (void)part(AttentionPart::content, watches_.content, rows_.content);
    const bool other = taken_.reduce != request.reduce || taken_.channel != request.channel;
    if (watches_.both.fields() && (new_both || new_prior || other)) take_both(ui, request);
    if (!has_prior) {
        rows_.priors.clear();
        rows_.prior = {};  // of the model before
    } else {
        take_priors(ui, request, probe);
    }
    taken_ = request;
}

// All layers cost as much as many targets of one: asked for when the target has come to rest.
void AttentionData::take_priors(PaneContext& ui, const Request& request, ProbeRequest probe) {
    constexpr double kRest_s = 0.15;
    if (taken_.target != request.target) rest_until_ = ui.time + kRest_s;
    probe.probe = "priors";
    probe.layer = 0;
    probe.channel = request.reduce == Reduce::channel ? request.channel : -1;
    probe.options.clear();
    // It has no channels of its own to show.
    const bool is_taken = kReduceOption.is_taken_by(probe.probe, request.reduce);
    kReduceOption.set(probe, is_taken ? request.reduce : Reduce::gate);
    if (ui.time < rest_until_ && !rows_.priors.empty()) {
        watches_.priors.want(probe);
        ui.want_frame_at(rest_until_);
        return;
    }
    AskTurn turn{is_pending()};
    if (!watches_.priors.update(ui, probe, turn)) return;
    const std::vector<float>& values = watches_.priors.fields()->fields.front().values;
    rows_.priors.assign(values.begin(), values.end());
}

AttentionMap AttentionData::channel_map(const ModelView& ui, int64_t channel) const {
    if (!watches_.both.fields()) return {};
    const Field& a = watches_.both.fields()->fields.front();
    const auto width = size_t(a.shape.back());
    if (size_t(channel + 1) * width > a.values.size()) return {};
    const std::span<const float> row(a.values.data() + size_t(channel) * width, width);
    AttentionMap out{{row.begin(), row.end()}, fold_row(Positions(ui.status), row, -1)};
    mark_masked(ui.status, watches_.both.shown(), out);
    return out;
}

}  // namespace aft::app

#include "app/panels/attention/attention_data.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "app/panels/shared/sample_input.h"

namespace aft::app {

double largest_share(const AttentionData& data, bool with_content) {
    double top = 1e-9;
    for (const AttentionMap* map : {&data.prior(), &data.content(), &data.both()})
        for (const float share : map->folded.values)
            if (map != &data.content() || with_content) top = std::max<double>(top, share);
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
    const Positions::Place t = positions.target(target);
    double on_grid = 0;
    for (size_t j = 0; j < map.row.size(); ++j) {
        const double share = map.row[j];
        if (!(share > 0)) continue;
        out.entropy -= share * std::log2(share);
        if (window > 0 && std::abs(target - int64_t(j)) < window) out.inside += share;
        const Positions::Place p = positions.source(int64_t(j));
        if (!p.is_on_grid() || !t.is_on_grid()) continue;
        out.distance +=
            share * (positions.is_text ? std::abs(double(t.x - p.x))
                                       : std::hypot(double(t.y - p.y), double(t.x - p.x)));
        on_grid += share;
    }
    if (on_grid > 0) out.distance /= on_grid;
    return out;
}

bool AttentionData::is_pending() const {
    return both_watch_.is_pending() || prior_watch_.is_pending() || content_watch_.is_pending();
}

void AttentionData::take_part(const Ui& ui, const Watch& watch, AttentionMap& out) {
    const Positions positions(ui.status);
    const Field& field = watch.fields()->fields.front();
    const auto width = size_t(field.shape.empty() ? 0 : field.shape.back());
    out.row.assign(field.values.begin(), field.values.begin() + ptrdiff_t(width));
    out.folded = fold_row(positions, out.row, -1);
    out.folded.version = ++maps_;
}

// The reduced row is made here out of all channels, so that changing it needs no new answer.
void AttentionData::take_both(const Ui& ui, const Wish& wish) {
    const FieldSet& set = *both_watch_.fields();
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
    is_by_head_ = !a.axes.empty() && a.axes.front() == "head";
    has_gates_ = !is_by_head_ && ui.status.mixer.has_gate;
    for (size_t c = 0; c < rows; ++c) {
        const bool chosen = wish.reduce != Reduce::channel || int64_t(c) == wish.channel;
        const double w = !chosen ? 0 : wish.reduce == Reduce::gate ? value(gate, c) : 1;
        weight += w;
        for (size_t j = 0; w > 0 && j < width; ++j) sum[j] += w * a.values[c * width + j];
    }
    both_.row.resize(width);
    for (size_t j = 0; j < width; ++j) both_.row[j] = float(sum[j] / std::max(1e-30, weight));
    // 0 * NaN: what no channel sees stays not visible even when no channel was chosen.
    for (size_t j = 0; j < width && rows > 0; ++j)
        if (std::isnan(a.values[j])) both_.row[j] = std::numeric_limits<float>::quiet_NaN();
    both_.folded = fold_row(Positions(ui.status), both_.row, -1);
    both_.folded.version = ++maps_;
    channels_.clear();
    for (size_t c = 0; c < rows; ++c) {
        const std::span<const float> row(a.values.data() + c * width, width);
        channels_.push_back({int64_t(c), value(gate, c), value(sharp, c),
                             prior_.row.empty() ? 0 : divergence_bits(row, prior_.row)});
    }
    sort(order_);
    ++version_;
}

void AttentionData::sort(Order order) {
    order_ = order;
    const auto key = [order](const AttentionChannel& c) {
        return order == Order::gate        ? c.gate
               : order == Order::sharpness ? c.sharpness
                                           : c.divergence;
    };
    std::stable_sort(channels_.begin(), channels_.end(),
                     [&](const auto& x, const auto& y) { return key(x) > key(y); });
}

void AttentionData::update(Ui& ui, const Wish& wish) {
    ProbeRequest request;
    request.probe = "attention";
    request.step = ui.selection.step;
    request.layer = wish.layer;
    request.position = wish.target;
    request.tokens = sample_tokens(ui);
    request.options = {{"part", "both"}, {"visible", "nan"}};
    AskTurn turn;
    const bool new_both = both_watch_.update(ui, request, turn);
    const auto part = [&](const char* name, Watch& watch, AttentionMap& map) {
        request.options["part"] = name;
        request.options["reduce"] = wish.reduce == Reduce::mean ? "mean" : "gate";
        request.channel = -1;
        if (wish.reduce == Reduce::channel) {
            request.options["reduce"] = "none";
            request.channel = wish.channel;
        }
        if (!watch.update(ui, request, turn)) return false;
        take_part(ui, watch, map);
        return true;
    };
    const bool has_prior = ui.status.mixer.has_prior();
    const bool new_prior = wish.prior && has_prior && part("prior", prior_watch_, prior_);
    if (wish.content) (void)part("content", content_watch_, content_);
    const bool other = taken_.reduce != wish.reduce || taken_.channel != wish.channel;
    if (both_watch_.fields() && (new_both || new_prior || other)) take_both(ui, wish);
    if (!has_prior) {
        priors_.clear();
        prior_ = {};  // of the model before
    } else {
        take_priors(ui, wish, request);
    }
    taken_ = wish;
}

// All layers cost as much as many targets of one: asked for when the target has come to rest.
void AttentionData::take_priors(Ui& ui, const Wish& wish, ProbeRequest request) {
    constexpr double kRest_s = 0.15;
    if (taken_.target != wish.target) rest_until_ = ui.time + kRest_s;
    request.probe = "priors";
    request.layer = 0;
    request.channel = wish.reduce == Reduce::channel ? wish.channel : -1;
    request.options = {{"reduce", wish.reduce == Reduce::mean ? "mean" : "gate"}};
    if (ui.time < rest_until_ && !priors_.empty()) {
        priors_watch_.want(request);
        ui.want_frame_at(rest_until_);
        return;
    }
    AskTurn turn{is_pending()};
    if (!priors_watch_.update(ui, request, turn)) return;
    const std::vector<float>& values = priors_watch_.fields()->fields.front().values;
    priors_.assign(values.begin(), values.end());
}

AttentionMap AttentionData::channel_map(const Ui& ui, int64_t channel) const {
    if (!both_watch_.fields()) return {};
    const Field& a = both_watch_.fields()->fields.front();
    const auto width = size_t(a.shape.back());
    if (size_t(channel + 1) * width > a.values.size()) return {};
    const std::span<const float> row(a.values.data() + size_t(channel) * width, width);
    return {{row.begin(), row.end()}, fold_row(Positions(ui.status), row, -1)};
}

}  // namespace aft::app

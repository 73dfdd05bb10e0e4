#include "app/panels/compare/compare_numbers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "app/panels/shared/compare_command.h"
#include "core/caught.h"

namespace aft::app {

namespace {

constexpr double kRenewAfter = 3;  // seconds, while training runs

// What a layer's numbers are worked out of; of the raw maps the gauge's share alone.
struct LayerAnswers {
    FieldSetPtr a, b, raw_a, raw_b;
    BiasForm form_a, form_b;
    int64_t layer = 0, block = 1;
    bool matches = true;
    ChangeMeasure changes_by = ChangeMeasure::w;
};

LayerNumbers work_out(const LayerAnswers& in) {
    LayerNumbers out;
    const std::string error = error_words([&] {
        out = compare_layer({.a = *in.a,
                             .b = *in.b,
                             .form_a = in.form_a,
                             .form_b = in.form_b,
                             .layer = in.layer,
                             .block = in.block,
                             .matches = in.matches,
                             .changes_by = in.changes_by},
                            CompareNumbers::kMostChanges);
        if (in.raw_a && in.raw_b && in.block == 1)
            out.removed_by_gauge =
                share_of_gauge(heads_of(*in.raw_a, in.form_a), heads_of(*in.raw_b, in.form_b), out);
    });
    out.layer = in.layer;
    if (!error.empty()) out.error = error;
    return out;
}

}  // namespace

void CompareNumbers::set_pairs(const PaneContext& ui, const CompareSlots& slots) {
    const bool is_moving = ui.status.state == RunState::running && ui.selection.step < 0;
    for (size_t other = 1; other < pairs_.size(); ++other) {
        PairOfSlots& pair = pairs_[other];
        pair.why_not = "There is no such slot.";
        pair.key.clear();
        if (other >= slots.size()) {
            pair.layers.clear();
            continue;
        }
        const ComparedSlot &a = slots.at(0), &b = slots.at(other);
        pair.why_not = why_not_comparable(a, b);
        pair.is_moving = is_moving && (a.choice.is_open() || b.choice.is_open());
        pair.key = fmt::format("{} | {} | {} {} {} {}", slot_key(ui, a, is_moving),
                               slot_key(ui, b, is_moving), gauge_option(ui.selection.gauge),
                               ui.selection.compare.matches, static_cast<int>(changes_by_),
                               fmt::join(b.partners, " "));
        int64_t layers = 0;
        if (pair.why_not.empty() && !b.is_matching)
            layers = b.partners.empty() ? std::min(a.form->layers, b.form->layers)
                                        : int64_t(b.partners.size());
        pair.layers.resize(size_t(layers));
    }
}

bool CompareNumbers::is_fresh(const PairOfSlots& pair, size_t layer, double now) const {
    const NumbersEntry& entry = pair.layers[layer];
    return entry.numbers && entry.key == pair.key &&
           (!pair.is_moving || now - entry.at < kRenewAfter);
}

void CompareNumbers::put(double now, const NumbersAnswer& answer) {
    if (answer.other >= pairs_.size()) return;
    PairOfSlots& pair = pairs_[answer.other];
    if (answer.key != pair.key || size_t(answer.layer) >= pair.layers.size()) return;
    pair.layers[size_t(answer.layer)] = {.key = answer.key, .at = now, .numbers = answer.numbers};
    ++version_;
}

void CompareNumbers::take(double now) {
    const auto newest = work_.latest();
    if (!newest || newest == last_) return;
    last_ = newest;
    put(now, *newest);
}

bool CompareNumbers::begin(const PaneContext& ui, CompareSlots& slots, size_t other,
                           int64_t layer) {
    const PairOfSlots& pair = pairs_[other];
    const auto fail_with = [&](const std::string& words) {
        auto numbers = std::make_shared<LayerNumbers>();
        numbers->layer = layer;
        numbers->error = words;
        put(ui.time, {.other = other, .layer = layer, .key = pair.key, .numbers = numbers});
        return true;
    };
    const int64_t layer_b = slots.at(other).layer_of(layer);
    if (layer_b < 0) return fail_with(kNoLayerLeft);
    const BiasForm form_a = slots.at(0).form_of(layer), form_b = slots.at(other).form_of(layer_b);
    const Gauge gauge = ui.selection.gauge;
    const int64_t block = std::max(layer_block(form_a), layer_block(form_b));
    const auto ask = [&](size_t slot, const BiasForm& form, Gauge in_gauge) {
        ProbeRequest request = layer_request(form, in_gauge, slot == 0 ? layer : layer_b);
        if (block > 1) request.options["blocks"] = std::to_string(block);
        return slots.ask(ui, slot, std::move(request));
    };
    const SlotFields a = ask(0, form_a, gauge), b = ask(other, form_b, gauge);
    const std::string error = !a.error.empty() ? a.error : b.error;
    if (!error.empty()) return fail_with(error);
    if (a.is_pending || b.is_pending || !a.fields || !b.fields) return false;
    LayerAnswers in{.a = a.fields,
                    .b = b.fields,
                    .raw_a = {},
                    .raw_b = {},
                    .form_a = form_a,
                    .form_b = form_b,
                    .layer = layer,
                    .block = block,
                    .matches = ui.selection.compare.matches,
                    .changes_by = changes_by_};
    const bool has_gauge = slots.at(0).status->mixer.free_rows && !form_a.is_kernel();
    if (has_gauge && gauge == Gauge::fixed && block == 1) {
        const SlotFields raw_a = ask(0, form_a, Gauge::raw), raw_b = ask(other, form_b, Gauge::raw);
        if (raw_a.is_pending || raw_b.is_pending) return false;
        in.raw_a = raw_a.fields;
        in.raw_b = raw_b.fields;
    }
    work_.start([in = std::move(in), other, layer, key = pair.key](const auto& publish,
                                                                   const std::stop_token&) {
        NumbersAnswer answer{.other = other, .layer = layer, .key = key, .numbers = {}};
        answer.numbers = std::make_shared<const LayerNumbers>(work_out(in));
        publish(std::move(answer));
    });
    return false;
}

void CompareNumbers::collect_largest(size_t other) {
    if (collected_ == version_ && shown_other_ == other) return;
    collected_ = version_;
    shown_other_ = other;
    largest_.clear();
    for (int64_t i = 0; i < layers(other); ++i)
        if (const LayerNumbers* const numbers = layer(other, i))
            largest_.insert(largest_.end(), numbers->largest.begin(), numbers->largest.end());
    std::stable_sort(largest_.begin(), largest_.end(),
                     [by = changes_by_](const HeadChange& x, const HeadChange& y) {
                         return change_size(x.a, x.b, by) > change_size(y.a, y.b, by);
                     });
    if (largest_.size() > kMostChanges) largest_.resize(kMostChanges);
}

void CompareNumbers::update(const PaneContext& ui, CompareSlots& slots) {
    std::array<std::string, CompareChoice::kMostSlots> before;
    for (size_t i = 0; i < pairs_.size(); ++i) before[i] = pairs_[i].key;
    changes_by_ = measure_of(ui.selection.quantity);
    set_pairs(ui, slots);
    for (size_t i = 0; i < pairs_.size(); ++i) version_ += before[i] != pairs_[i].key ? 1 : 0;
    const bool is_busy = work_.is_busy();
    if (!is_busy) take(ui.time);
    const size_t other = ui.selection.compare.other;
    std::vector<std::pair<size_t, int64_t>> order;  // slot, layer
    const int64_t shown = ui.selection.cell.layer;
    order.emplace_back(other, shown);
    for (size_t k = 1; k < slots.size(); ++k) order.emplace_back(k, shown);
    for (int64_t i = 0; i < layers(other); ++i) order.emplace_back(other, i);
    is_working_ = is_busy;
    for (const auto& [slot, at] : order) {
        if (slot >= pairs_.size() || at < 0 || at >= layers(slot)) continue;
        if (is_fresh(pairs_[slot], size_t(at), ui.time)) continue;
        is_working_ = true;
        if (is_busy || !begin(ui, slots, slot, at)) break;
    }
    collect_largest(other);
}

const LayerNumbers* CompareNumbers::layer(size_t other, int64_t layer) const {
    if (other >= pairs_.size() || layer < 0 || layer >= layers(other)) return nullptr;
    const PairOfSlots& pair = pairs_[other];
    const NumbersEntry& entry = pair.layers[size_t(layer)];
    return entry.key == pair.key ? entry.numbers.get() : nullptr;
}

int64_t CompareNumbers::layers(size_t other) const {
    return other < pairs_.size() ? int64_t(pairs_[other].layers.size()) : 0;
}

int64_t CompareNumbers::done(size_t other) const {
    int64_t count = 0;
    for (int64_t i = 0; i < layers(other); ++i) count += layer(other, i) != nullptr ? 1 : 0;
    return count;
}

}  // namespace aft::app

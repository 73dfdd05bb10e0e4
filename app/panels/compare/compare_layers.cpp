#include "app/panels/compare/compare_layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/panels/compare/compare_values.h"
#include "app/state/probe_options.h"
#include "core/compare/layer_matching.h"
#include "model/jobs/compare.h"

namespace aft::app {

namespace {

constexpr double kMatchAgainAfter = 10;  // seconds, while training runs

// Both have position biases of one kind, so that their layers can be alike.
bool can_match(const ComparedSlot& a, const ComparedSlot& b) {
    return a.status != nullptr && b.status != nullptr && a.has_bias() && b.has_bias() &&
           a.form->layout == b.form->layout &&
           a.form->visibility.is_causal == b.form->visibility.is_causal;
}

// All layers of both slots.
struct LayersToCompare {
    std::vector<FieldSetPtr> a, b;
    std::vector<BiasForm> forms_a, forms_b;
    bool matches_heads = true;
};

HeadMatching match(const LayersToCompare& in, const std::stop_token& stop) {
    const auto maps_of = [](const std::vector<FieldSetPtr>& fields,
                            const std::vector<BiasForm>& forms) {
        std::vector<HeadMaps> out;
        for (size_t i = 0; i < fields.size(); ++i) out.push_back(heads_of(*fields[i], forms[i]));
        return out;
    };
    const std::vector<HeadMaps> a = maps_of(in.a, in.forms_a), b = maps_of(in.b, in.forms_b);
    return match_layers({.a = a, .b = b, .matches_heads = in.matches_heads}, stop);
}

std::vector<BiasForm> forms_of(const ComparedSlot& slot) {
    std::vector<BiasForm> out;
    for (int64_t i = 0; i < int64_t(slot.status->layers.size()); ++i)
        out.push_back(slot.form_of(i));
    return out;
}

// The slot's layer for each of the first one's.
std::vector<int64_t> partners_of(const HeadMatching& matching, size_t layers) {
    std::vector<int64_t> out;
    for (size_t i = 0; i < layers; ++i) out.push_back(matching.of_a(int64_t(i)));
    return out;
}

}  // namespace

void MatchedLayers::set_key(const PaneContext& ui, const CompareSlots& slots, size_t other) {
    const bool is_running = ui.status.state == RunState::running && ui.selection.step < 0;
    const ComparedSlot &a = slots.at(0), &b = slots.at(other);
    LayersOfPair& pair = pairs_[other];
    pair.is_moving = is_running && (a.choice.is_open() || b.choice.is_open());
    const std::string key =
        fmt::format("{} | {} | {} {}", slot_key(ui, a, is_running), slot_key(ui, b, is_running),
                    gauge_option(ui.selection.gauge), ui.selection.compare.matches);
    if (pair.key == key) return;
    pair = {.key = key, .is_moving = pair.is_moving, .a = {}, .b = {}, .found = {}};
}

void MatchedLayers::take(double now) {
    const auto newest = work_.latest();
    if (!newest || newest == last_) return;
    last_ = newest;
    LayersOfPair& pair = pairs_.at(newest->other);
    if (pair.key != newest->key) return;
    pair.found = newest->found;
    pair.at = now;
    pair.a.clear();
    pair.b.clear();
}

bool MatchedLayers::begin(const PaneContext& ui, CompareSlots& slots, size_t other) {
    LayersOfPair& pair = pairs_[other];
    const int64_t block = block_of_matching(*slots.at(0).status, *slots.at(other).status);
    LayersToCompare in{.a = {},
                       .b = {},
                       .forms_a = forms_of(slots.at(0)),
                       .forms_b = forms_of(slots.at(other)),
                       .matches_heads = ui.selection.compare.matches};
    bool is_there = true;
    const auto read = [&](size_t slot, const std::vector<BiasForm>& forms,
                          std::vector<FieldSetPtr>& fields) {
        fields.resize(forms.size());
        for (size_t i = 0; i < forms.size(); ++i) {
            if (fields[i]) continue;
            ProbeRequest request = layer_request(forms[i], ui.selection.gauge, int64_t(i));
            if (block > 1) request.options["blocks"] = std::to_string(block);
            const SlotFields answer = slots.ask(ui, slot, std::move(request));
            // One that cannot be read is like no other.
            if (!answer.error.empty()) fields[i] = std::make_shared<const FieldSet>();
            if (answer.fields && !answer.is_pending) fields[i] = answer.fields;
            is_there = is_there && fields[i];
        }
    };
    read(0, in.forms_a, pair.a);
    read(other, in.forms_b, pair.b);
    if (!is_there) return false;
    in.a = pair.a;
    in.b = pair.b;
    work_.start([in = std::move(in), other, key = pair.key](const auto& publish,
                                                            const std::stop_token& stop) {
        publish({.other = other, .key = key, .found = match(in, stop)});
    });
    return true;
}

void MatchedLayers::update(const PaneContext& ui, CompareSlots& slots) {
    is_working_ = false;
    if (!ui.selection.compare.matches_layers) {
        pairs_ = {};
        return;
    }
    bool is_busy = work_.is_busy();
    if (!is_busy) take(ui.time);
    std::vector<size_t> order = {ui.selection.compare.other};
    for (size_t i = 1; i < slots.size(); ++i)
        if (i != order.front()) order.push_back(i);
    for (const size_t other : order) {
        if (other >= slots.size() || !can_match(slots.at(0), slots.at(other))) continue;
        set_key(ui, slots, other);
        const LayersOfPair& pair = pairs_[other];
        const bool is_old = pair.is_moving && ui.time - pair.at > kMatchAgainAfter;
        if (!pair.found || is_old) {
            is_working_ = true;
            if (!is_busy) is_busy = begin(ui, slots, other) || !pair.found;
        }
        slots.pair_layers(
            ui, other,
            pair.found ? std::optional(partners_of(*pair.found, slots.at(0).status->layers.size()))
                       : std::nullopt);
    }
}

}  // namespace aft::app

#include "app/panels/compare/compare_shown.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/text.h"

namespace aft::app {

namespace {

struct SlotHead {
    int64_t head = 0;            // -1: there is none
    std::vector<int64_t> order;  // kernels over the sequence: row of each row; empty = as it is
    std::string note;
};

std::string score_note(const LayerNumbers& numbers, int64_t head_a) {
    if (!std::isfinite(numbers.all.correlation)) return "";  // one of them is 0 everywhere
    for (const HeadMatch& pair : numbers.matching.pairs)
        if (pair.a == head_a && std::isfinite(pair.score))
            return "correlation " + signed_number(pair.score, 3);
    return "";
}

// The head of a slot that belongs to the first slot's `head_a`.
SlotHead partner_of(const LayerNumbers* numbers, const BiasForm& form, int64_t head_a) {
    SlotHead out{.head = head_a, .order = {}, .note = ""};
    if (numbers == nullptr || !numbers->error.empty()) {
        out.head = std::clamp<int64_t>(head_a, 0, std::max<int64_t>(0, form.heads - 1));
        return out;
    }
    if (form.layout == BiasLayout::kernel_1d) {
        out.head = 0;
        for (const HeadMatch& pair : numbers->matching.pairs) {
            if (int64_t(out.order.size()) <= pair.a) out.order.resize(size_t(pair.a) + 1, -1);
            out.order[size_t(pair.a)] = pair.b;
        }
        return out;
    }
    out.head = numbers->matching.of_a(head_a);
    out.note = score_note(*numbers, head_a);
    return out;
}

SlotHead head_of(const PaneContext& ui, const CompareSlots& slots, const CompareNumbers& numbers,
                 size_t slot) {
    const BiasForm& form = *slots.at(slot).form;
    const int64_t last = std::max<int64_t>(0, form.heads - 1);
    const int64_t chosen = slots.at(slot).choice.head;
    if (chosen >= 0) return {.head = std::min(chosen, last), .order = {}, .note = "chosen"};
    const int64_t selected = std::max<int64_t>(0, ui.selection.cell.head);
    if (slot == 0 || !slots.at(0).form)
        return {.head = form.heads > 1 ? std::min(selected, last) : 0, .order = {}, .note = ""};
    const int64_t chosen_a = slots.at(0).choice.head;
    const BiasForm& form_a = *slots.at(0).form;
    const int64_t head_a =
        form_a.heads > 1 ? std::min(chosen_a >= 0 ? chosen_a : selected, form_a.heads - 1) : 0;
    SlotHead out = partner_of(numbers.layer(slot, ui.selection.cell.layer), form, head_a);
    if (!out.order.empty()) out.order.resize(size_t(form_a.rows), -1);
    return out;
}

}  // namespace

void ShownMaps::update_one(const PaneContext& ui, CompareSlots& slots,
                           const CompareNumbers& numbers, size_t slot) {
    MadeMap& made = maps_[slot];
    SlotMap& map = made.map;
    const ComparedSlot& of = slots.at(slot);
    const auto none = [&](std::string why) {
        made = {};
        map.error = std::move(why);
    };
    if (!of.error.empty()) return none(of.error);
    if (of.status == nullptr) {
        none("");
        map.is_pending = true;
        return;
    }
    if (!of.has_bias())
        return none(of.status->mixer.no_bias.empty() ? "This model has no position bias."
                                                     : of.status->mixer.no_bias + ".");
    if (of.is_matching) {
        none("");
        map.is_pending = true;
        return;
    }
    const BiasForm& form = *of.form;
    const int64_t layer = of.layer_of(layer_);
    if (layer < 0) return none(kNoLayerLeft);
    if (layer >= form.layers)
        return none(fmt::format("This model has no layer {}; its layers are 0 to {}.", layer,
                                form.layers - 1));
    if (!is_map_readable(form))
        return none(
            fmt::format("A map of {} x {} is too large for this view.", form.rows, form.columns));
    SlotHead head = head_of(ui, slots, numbers, slot);
    if (head.head < 0) return none("No head of this model is left to match this one.");
    const int64_t asked_head = layer_block(form) == 1 ? -1 : head.head;
    const SlotFields answer =
        slots.ask(ui, slot, layer_request(form, ui.selection.gauge, layer, asked_head));
    map.is_pending = answer.is_pending;
    map.error = answer.error;
    map.note = head.note;
    if (!of.partners.empty())
        map.note = fmt::format("layer {}{}{}", layer, map.note.empty() ? "" : ", ", map.note);
    if (!answer.fields) return;
    if (made.from == answer.fields && made.head == head.head && made.order == head.order) return;
    std::vector<float> w = map_of_slot(*answer.fields, form, head.head);
    if (!head.order.empty()) w = reordered_rows(w, form.columns, head.order);
    made.from = answer.fields;
    made.head = head.head;
    made.order = std::move(head.order);
    const bool is_empty = w.empty();
    map.w = std::make_shared<const std::vector<float>>(std::move(w));
    map.form = form;
    for (const Field& field : answer.fields->fields)
        if (field.notes.contains("masks")) map.form->visibility.has_masks = true;
    if (!made.order.empty()) map.form->rows = int64_t(made.order.size());
    map.head = made.head;
    map.step = answer.fields->fields.empty() ? -1 : answer.fields->fields.front().step;
    map.version = is_empty ? 0 : ++versions_;
}

std::string map_note(const ComparedSlot& slot, const SlotMap& map) {
    std::string note = slot.name;
    if (map.step >= 0) note += ", step " + group_thousands(map.step);
    if (!slot.changes.empty()) note += ", after " + slot.changes;
    if (slot.has_bias() && slot.form->heads > 1) note += fmt::format(", head {}", map.head);
    return map.note.empty() ? note : note + ", " + map.note;
}

void ShownMaps::update(const PaneContext& ui, CompareSlots& slots, const CompareNumbers& numbers) {
    int64_t layers = 0;
    for (const ComparedSlot& slot : slots.all())
        if (slot.form) layers = std::max(layers, slot.form->layers);
    layer_ = std::clamp<int64_t>(ui.selection.cell.layer, 0, std::max<int64_t>(0, layers - 1));
    for (size_t i = 0; i < maps_.size(); ++i) {
        if (i < slots.size())
            update_one(ui, slots, numbers, i);
        else
            maps_[i] = {};
    }
}

}  // namespace aft::app

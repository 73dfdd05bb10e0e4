#include "app/panels/compare/compare_slots.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/state/open_path.h"
#include "app/state/probe_options.h"
#include "core/json.h"
#include "core/text.h"
#include "model/jobs/recipe.h"
#include "model/jobs/summary.h"

namespace aft::app {

namespace {

constexpr int64_t kMostLayerValues = int64_t{4} << 20;  // of all heads of a layer, read whole
constexpr int64_t kMostMapValues = int64_t{16} << 20;   // of one map: T = 4096

std::string letter_of(size_t index) {
    return std::string(1, static_cast<char>('A' + index));
}

}  // namespace

std::string recipe_key(const Recipe& recipe) {
    return recipe.is_untouched() ? "" : " " + json_text(recipe_json(recipe));
}

namespace {

std::string request_key(const ProbeRequest& request) {
    std::string key = fmt::format("{} {} {}", request.probe, request.layer, request.head);
    for (const auto& [name, value] : request.options) key += " " + name + "=" + value;
    return key + recipe_key(request.recipe);
}

std::string size_words(const BiasForm& form) {
    if (form.layout == BiasLayout::kernel_1d || form.layout == BiasLayout::band)
        return fmt::format("{} x {}", form.rows, form.columns);
    return form.is_kernel() ? fmt::format("kernels of {} x {}", form.rows, form.columns)
                            : fmt::format("{} positions", form.rows);
}

const char* layout_words(BiasLayout layout) {
    switch (layout) {
        case BiasLayout::matrix:
            return "a bias for every pair of positions";
        case BiasLayout::band:
            return "a bias inside a window";
        case BiasLayout::kernel_1d:
            return "kernels over the sequence";
        case BiasLayout::kernel_2d:
            return "kernels over the picture";
        default:
            return "no position bias";
    }
}

}  // namespace

std::string ComparedSlot::words() const {
    std::string out = step < 0 ? name : name + ", step " + group_thousands(step);
    return changes.empty() ? out : out + ", after " + changes;
}

std::string recipe_words(const CompareSlot& slot) {
    if (slot.recipe.is_untouched()) return "";
    if (!slot.recipe_name.empty()) return slot.recipe_name;
    constexpr size_t kMostNames = 3;
    std::string out;
    size_t count = 0;
    for (const Intervention& one : slot.recipe.interventions) {
        if (!one.on) continue;
        if (count < kMostNames) out += (count == 0 ? "" : ", ") + one.name;
        ++count;
    }
    return count <= kMostNames ? out : fmt::format("{} and {} more", out, count - kMostNames);
}

BiasForm ComparedSlot::form_of(int64_t layer) const {
    const auto layers = static_cast<int64_t>(status->layers.size());
    return BiasForm(*status, std::clamp<int64_t>(layer, 0, std::max<int64_t>(0, layers - 1)));
}

int64_t LayerPartners::layer_of(int64_t of_first) const {
    if (partners.empty() && !is_matching) return of_first;
    const bool is_known = of_first >= 0 && of_first < int64_t(partners.size());
    return is_known ? partners[size_t(of_first)] : -1;
}

std::string slot_key(const PaneContext& ui, const ComparedSlot& slot, bool is_moving) {
    const std::string& path = slot.choice.is_open() ? ui.status.path : slot.choice.path;
    return fmt::format("{} {} {}", slot.choice.is_open() ? "open" : "stored", path,
                       slot.choice.is_open() && is_moving ? -1 : slot.step) +
           recipe_key(slot.choice.recipe);
}

ComparedSlot CompareSlots::resolve_open(const PaneContext& ui) const {
    ComparedSlot out;
    out.name = ui.status.path.empty() ? ui.status.name : shown_name(ui.status.path);
    out.steps = ui.history;
    if (!ui.has_model()) return out;
    out.status = &ui.status;
    out.step = ui.shown_weights();
    return out;
}

ComparedSlot CompareSlots::resolve_stored(const CompareSlot& choice) {
    ComparedSlot out;
    out.name = shown_name(choice.path);
    out.stored = reader_.model(choice.path, out.error);
    if (!out.stored) return out;
    out.status = &out.stored->status;
    out.steps = out.stored->steps;
    out.step = choice.step >= 0 ? choice.step : out.steps.back();
    return out;
}

// What is open is there from the start, and gone with it.
static void settle(CompareChoice& choice, bool has_session) {
    if (!has_session)
        std::erase_if(choice.slots, [](const CompareSlot& slot) { return slot.is_open(); });
    else if (choice.slots.empty())
        choice.slots.push_back({});
    choice.other =
        std::clamp<size_t>(choice.other, 1, std::max<size_t>(2, choice.slots.size()) - 1);
}

void CompareSlots::update(PaneContext& ui) {
    if (opened_ != ui.opened) watches_.clear();
    opened_ = ui.opened;
    CompareChoice& choice = ui.selection.compare;
    settle(choice, ui.session != nullptr);
    if (Undoable* const seen = ui.selection.changes.seen())  // no change of the user's
        settle(seen->compare, ui.session != nullptr);
    slots_.clear();
    for (const CompareSlot& slot : choice.slots) {
        ComparedSlot one = slot.is_open() ? resolve_open(ui) : resolve_stored(slot);
        if (one.status != nullptr) one.form = one.form_of(ui.selection.cell.layer);
        one.choice = slot;
        one.changes = recipe_words(slot);
        one.letter = letter_of(slots_.size());
        slots_.push_back(std::move(one));
    }
    turns_.clear();
    for (auto& [key, watch] : watches_) watch.is_used = false;
}

SlotFields CompareSlots::ask(const PaneContext& ui, size_t slot, ProbeRequest request) {
    const ComparedSlot& of = slots_.at(slot);
    SlotFields out;
    if (of.status == nullptr) return out;
    if (!of.choice.recipe.is_untouched()) request.recipe = of.choice.recipe;
    if (!of.choice.is_open()) {
        request.step = of.step;
        out.fields = reader_.biases(of.choice.path, request, out.error);
        out.is_pending = !out.fields && out.error.empty();
        return out;
    }
    request.step = ui.selection.step;
    OpenWatch& open = watches_[request_key(request)];
    open.is_used = true;
    (void)open.watch.update(ui, request, turns_[{request.probe, request.layer}]);
    out.fields = open.watch.fields();
    out.is_pending = open.watch.is_pending();
    out.error = open.watch.error();
    return out;
}

void CompareSlots::pair_layers(const ViewState& ui, size_t slot,
                               std::optional<std::vector<int64_t>> partners) {
    ComparedSlot& of = slots_.at(slot);
    of.is_matching = !partners;
    of.partners = std::move(partners).value_or(std::vector<int64_t>());
    if (const int64_t layer = of.layer_of(ui.selection.cell.layer); layer >= 0)
        of.form = of.form_of(layer);
}

void CompareSlots::finish(PaneContext& ui) {
    std::erase_if(watches_, [](const auto& one) { return !one.second.is_used; });
    reader_.update(ui.time);
    const bool is_growing = std::any_of(slots_.begin(), slots_.end(),
                                        [](const ComparedSlot& slot) { return slot.is_growing(); });
    if (is_growing) ui.want_frame_at(ui.time + 5);
    if (reader_.is_reading()) ui.want_frame_at(ui.time + 0.05);
}

void CompareSlots::read_again(size_t slot) {
    if (slot < slots_.size()) reader_.forget(slots_[slot].choice.path);
}

ProbeRequest layer_request(const BiasForm& form, Gauge gauge, int64_t layer, int64_t head) {
    ProbeRequest request;
    request.layer = layer;
    if (form.layout == BiasLayout::kernel_1d || form.layout == BiasLayout::kernel_2d) {
        request.probe = "kernel";
        kQuantityOption.set(request, Quantity::w);
    } else {
        request.probe = "bias";
        kQuantityOption.set(request, Quantity::w);
        kGaugeOption.set(request, gauge);
        kVisibleOption.set(request, HiddenSources::nan);
        if (form.layout == BiasLayout::band) kViewOption.set(request, BiasView::band);
    }
    if (head >= 0 && form.heads > 1) request.head = head;
    return request;
}

int64_t layer_block(const BiasForm& form) {
    if (form.is_kernel()) return 1;
    int64_t block = 1;
    const auto values = [&] {
        const auto side = [&](int64_t n) { return (n + block - 1) / block; };
        return form.heads * side(form.rows) * side(form.columns);
    };
    while (values() > kMostLayerValues) ++block;
    return block;
}

bool is_map_readable(const BiasForm& form) {
    return form.rows * form.columns <= kMostMapValues;
}

int64_t matched_heads(const BiasForm& form) {
    return form.layout == BiasLayout::kernel_1d ? form.rows : form.heads;
}

std::string why_not_comparable(const ComparedSlot& a, const ComparedSlot& b) {
    for (const ComparedSlot* slot : {&a, &b})
        if (!slot->error.empty())
            return fmt::format("{} cannot be read: {}", slot->letter, slot->error);
    if (!a.form || !b.form) return "Not read yet.";
    for (const ComparedSlot* slot : {&a, &b})
        if (!slot->has_bias())
            return fmt::format("{} has no position bias: {}.", slot->letter,
                               slot->status->mixer.no_bias.empty()
                                   ? slot->status->config.model.mixer
                                   : slot->status->mixer.no_bias);
    if (a.form->layout != b.form->layout)
        return fmt::format("{} has {}, {} has {}: their cells do not correspond.", a.letter,
                           layout_words(a.form->layout), b.letter, layout_words(b.form->layout));
    const bool is_row_of_heads = a.form->layout == BiasLayout::kernel_1d;
    if ((a.form->rows != b.form->rows && !is_row_of_heads) || a.form->columns != b.form->columns)
        return fmt::format("{} has {}, {} has {}: only maps of one size have a difference.",
                           a.letter, size_words(*a.form), b.letter, size_words(*b.form));
    if (a.form->visibility.is_causal != b.form->visibility.is_causal)
        return fmt::format("{} is causal, {} is not: their cells do not correspond.",
                           (a.form->visibility.is_causal ? a : b).letter,
                           (a.form->visibility.is_causal ? b : a).letter);
    if (!is_map_readable(*a.form))
        return fmt::format("Maps of {} x {} are too large to be compared cell by cell here.",
                           a.form->rows, a.form->columns);
    return "";
}

}  // namespace aft::app

#include "app/panels/biases/bias_data.h"
#include "app/state/probe_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text.h"

namespace aft::app {

int64_t layers_read(const BiasLayers& layers, int64_t count) {
    int64_t there = 0;
    for (int64_t i = 0; i < count; ++i) there += layers.has(i) ? 1 : 0;
    return there;
}

ProbeRequest bias_request(const ViewState& ui, const BiasForm& form, const BiasQuery& query) {
    ProbeRequest request;
    request.step = ui.selection.step;
    request.layer = query.layer;
    // Beside single values of exp(w) their w: the logarithm of a rounded exp(w)-1 is not w.
    const bool wants_w = !query.is_change && (ui.selection.quantity == Quantity::exp_minus_one ||
                                              ui.selection.quantity == Quantity::exp);
    if (form.is_kernel()) {
        request.probe = "kernel";
        kQuantityOption.set(request, quantity_of_kernel(ui.selection.quantity));
        if (wants_w) kAlsoOption.set(request, BesideQuantity::w);
        return request;
    }
    request.probe = "bias";
    kQuantityOption.set(request, ui.selection.quantity);
    kGaugeOption.set(request, ui.selection.gauge);
    kVisibleOption.set(request, HiddenSources::nan);
    const bool is_band = form.layout == BiasLayout::band;
    if (is_band) kViewOption.set(request, BiasView::band);
    const bool is_whole = (is_band || query.is_change) && form.is_read_whole();
    if (!query.block.is_single() && !is_whole)
        request.options[kBlocksOption] =
            std::to_string(std::max(query.block.rows, query.block.columns));
    else if (wants_w)
        kAlsoOption.set(request, BesideQuantity::w);
    return request;
}

bool shows_change(const ViewState& ui) {
    return ui.selection.difference_to_pin && !ui.selection.pins.empty();
}

std::string bias_words(const ViewState& ui) {
    const std::string words = quantity_words(ui.selection.quantity);
    return shows_change(ui) ? "Change of " + words : words;
}

double bias_hold(const BiasForm& form) {
    if (form.is_kernel()) return 0.5;
    const double cells = double(form.layers) * double(form.tokens) * double(form.tokens);
    return std::min(5.0, 0.5 + cells / 4e6);
}

namespace {

constexpr double kLeastChange = 1e-3;  // limit of a map where next to nothing has changed

std::vector<float> seen_values(const BiasMap& map) {
    std::vector<float> out;
    out.reserve(map.shown.size());
    for (size_t i = 0; i < map.shown.size(); ++i)
        if (map.hidden.empty() || map.hidden[i] == 0) out.push_back(map.shown[i]);
    return out;
}

}  // namespace

void BiasLayers::rebuild(const ViewState& ui, const BiasForm& form, Blocks block,
                         BiasLayer& layer) {
    layer.maps.clear();
    layer.own.clear();
    layer.version = ++versions_;
    if (!layer.watch.fields() || (is_change_ && !layer.pinned.is_current())) return;
    const auto limits = [&](std::span<const float> values) {
        if (!is_change_)
            return quantity_limits(ui.selection.quantity, values, ui.selection.percentile,
                                   ui.selection.symmetric);
        const double m =
            std::max(kLeastChange, value_range(values, ui.selection.percentile, true).high);
        return Range{-m, m};
    };
    std::vector<float> all;
    for (int64_t head = 0; head < form.heads; ++head) {
        BiasMap map =
            map_of_fields({*layer.watch.fields(),
                           is_change_ ? layer.pinned.fields().get() : nullptr, layer.block_value},
                          form, head, block);
        if (map.shown.empty()) {  // an answer of another shape: an older request of this pane
            layer.maps.clear();
            return;
        }
        const std::vector<float> seen = seen_values(map);
        layer.own.push_back(limits(seen));
        all.insert(all.end(), seen.begin(), seen.end());
        layer.maps.push_back(std::move(map));
    }
    layer.limits = limits(all);
}

void BiasLayers::update_layer(const PaneContext& ui, const BiasQuery& query, BiasLayer& layer) {
    const BiasForm& form = forms_[size_t(query.layer)];
    ProbeRequest request = bias_request(ui, form, query);
    AskTurn& turn = turns_[size_t(query.layer)];
    bool is_new = layer.watch.update(ui, request, turn, bias_hold(form));
    pending_ += layer.watch.is_pending() ? 1 : 0;
    if (!layer.watch.error().empty()) error_ = layer.watch.error();
    if (is_change_) {
        request.step = ui.selection.pins.back().step;
        is_new |= layer.pinned.update(ui, request, turn);
        pending_ += layer.pinned.is_pending() ? 1 : 0;
        if (!layer.pinned.error().empty()) error_ = layer.pinned.error();
    }
    if (!layer.watch.fields()) return;
    // In the probe's blocks the answer says how large they are; what is read whole is cut as asked.
    const auto& options = layer.watch.shown().options;
    const auto found = options.find("blocks");
    Blocks block = request.options.contains("blocks") ? Blocks{} : query.block;
    if (found != options.end()) block.rows = block.columns = std::stoll(found->second);
    const double clip = ui.selection.percentile * (ui.selection.symmetric ? 1 : -1);
    const BlockValue block_value = ui.selection.block_value;
    const bool is_other = layer.block != block || layer.is_change != is_change_ ||
                          layer.clip != clip || layer.block_value != block_value;
    if (!is_new && !is_other) return;
    layer.block = block;
    layer.is_change = is_change_;
    layer.clip = clip;
    layer.block_value = block_value;
    rebuild(ui, form, block, layer);
}

void BiasLayers::update(const PaneContext& ui, const Wanted& wanted) {
    std::vector<BiasForm> forms;
    for (int64_t i = 0; i < int64_t(ui.status.layers.size()); ++i) forms.emplace_back(ui.status, i);
    if (opened_ != ui.opened || forms_ != forms) {  // another model
        layers_.clear();
        ranges_.clear();
    }
    opened_ = ui.opened;
    forms_ = std::move(forms);
    layers_.resize(forms_.size());
    ranges_.resize(wanted.has_one_range ? forms_.size() : 0);
    turns_.assign(forms_.size(), {});
    pending_ = 0;
    error_.clear();
    is_change_ = wanted.is_change;
    BiasQuery query{.block = wanted.block, .is_change = is_change_};
    for (query.layer = wanted.first; query.layer < wanted.end; ++query.layer)
        update_layer(ui, query, layers_[size_t(query.layer)]);
    for (query.layer = 0; query.layer < int64_t(ranges_.size()); ++query.layer) {
        BiasLayer& layer = ranges_[size_t(query.layer)];
        query.block = forms_[size_t(query.layer)].range_blocks();
        update_layer(ui, query, layer);
        layer.is_ranged = is_of_screen(layer);
    }
}

void cancel(BiasLayers& layers, const PaneContext& ui) {
    for (std::vector<BiasLayer>* const list : {&layers.layers_, &layers.ranges_})
        for (BiasLayer& layer : *list)
            for (Watch* const watch : {&layer.watch, &layer.pinned}) drop_request(*watch, ui);
}

// Answers of another step, quantity or gauge may still be about: they are not in the range.
bool BiasLayers::is_of_screen(const BiasLayer& layer) const {
    const auto is_answer = [](const Watch& watch) {
        const bool may_be_late = watch.shown().step < 0;  // the newest step, while training runs
        return watch.is_current() && (may_be_late || !watch.is_pending());
    };
    return !layer.maps.empty() && layer.is_change == is_change_ && is_answer(layer.watch) &&
           (!is_change_ || is_answer(layer.pinned));
}

int64_t BiasLayers::ranged() const {
    return std::count_if(ranges_.begin(), ranges_.end(),
                         [](const BiasLayer& layer) { return layer.is_ranged; });
}

static Coloring coloring_of(const PaneContext& ui, Range limits, bool is_change) {
    const Selection& s = ui.selection;
    Coloring out;
    out.range = s.range_by_hand.value_or(limits);
    out.map = is_change || is_signed(s.quantity) ? ui.theme.diverging : Colormap::viridis;
    if (is_change)
        out.scale = Scale::signed_linear;
    else if (s.quantity == Quantity::exp_minus_one)
        out.scale = s.scale == Scale::two_sided ? Scale::two_sided : Scale::signed_log;
    else if (s.quantity == Quantity::w)
        out.scale = Scale::signed_linear;
    return out;
}

Coloring BiasLayers::coloring(const PaneContext& ui, int64_t layer, int64_t head) const {
    Range limits = has(layer) ? layers_[size_t(layer)].limits : Range{};
    if (ui.selection.range_mode == RangeMode::own && has(layer))
        limits = layers_[size_t(layer)].own.at(size_t(head));
    if (ui.selection.range_mode == RangeMode::global) {
        bool any = false;
        for (const BiasLayer& ranged : ranges_) {
            if (!ranged.is_ranged) continue;
            const Range& r = ranged.limits;
            limits = any ? Range{std::min(limits.low, r.low), std::max(limits.high, r.high)} : r;
            any = true;
        }
    }
    return coloring_of(ui, limits, is_change_);
}

std::vector<float> BiasLayers::visible_values(int64_t layer, int64_t head) const {
    if (!has(layer)) return {};
    return seen_values(layers_[size_t(layer)].maps.at(size_t(head)));
}

static bool is_all_zero(const BiasMap& map) {
    return std::all_of(map.shown.begin(), map.shown.end(),
                       [](float v) { return v == 0 || std::isnan(v); });
}

std::string gauge_words(const BiasForm& form, const BiasLayer& layer) {
    if (form.is_kernel()) return "raw gauge";
    if (!layer.watch.fields() || layer.watch.fields()->fields.empty()) return "";
    const auto& notes = layer.watch.fields()->fields.front().notes;
    const auto gauge = notes.find("gauge");
    if (gauge == notes.end() || !gauge->second.starts_with("fixed")) return "raw gauge";
    const bool is_of_all = gauge->second.find("where") == std::string::npos;
    return is_of_all ? "gauge fixed" : "gauge fixed where rows are free";
}

std::string pin_words(const BiasLayer& layer) {
    const FieldSetPtr& fields = layer.pinned.fields();
    if (!fields || fields->fields.empty()) return "a step that is being read";
    return "step " + group_thousands(std::max<int64_t>(0, fields->fields.front().step));
}

std::string bias_caption(const ViewState& ui, const BiasForm& form, const BiasLayer& layer,
                         bool names_block) {
    const Selection& s = ui.selection;
    std::string out;
    const bool has_change = shows_change(ui);
    if (names_block && !layer.maps.empty() && !layer.maps.front().block.is_single()) {
        const bool is_whole = !layer.watch.shown().options.contains("blocks");
        out += fmt::format("1:{}, {} of each block, ", layer.maps.front().block.words(),
                           has_change && !is_whole             ? "change of the mean"
                           : s.block_value == BlockValue::mean ? "mean"
                                                               : "extreme");
    }
    if (has_change) out += "since the pin at " + pin_words(layer) + ", ";
    const bool is_still = has_change && !layer.maps.empty() &&
                          std::all_of(layer.maps.begin(), layer.maps.end(), is_all_zero);
    if (is_still) out += "nothing has changed, ";
    if (form.layout == BiasLayout::band) out += "band of offsets t \u2212 t\u2032, ";
    out += s.range_by_hand                    ? "range set by hand"
           : s.range_mode == RangeMode::own   ? "each map its own range"
           : s.range_mode == RangeMode::layer ? "range shared per layer"
                                              : "one range for all layers";
    if (has_change)
        out += ", linear, symmetric round 0";
    else if (s.quantity == Quantity::exp_minus_one)
        out += s.scale == Scale::two_sided ? ", arms scaled apart, floor \u22121"
                                           : ", signed log, floor \u22121";
    else
        out += ", linear";
    const std::string gauge = gauge_words(form, layer);
    if (!gauge.empty()) out += ", " + gauge;
    return out + "  \u00B7  " + step_words(ui, layer.watch.fields());
}

}  // namespace aft::app

#include "app/panels/bias_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text.h"

namespace aft::app {

BiasForm::BiasForm(const Status& status) {
    const ModelConfig& model = status.config.model;
    layers = static_cast<int64_t>(status.layers.size());
    tokens = status.tokens;
    window = model.window;
    is_causal = model.causal();
    hides_outside = model.outside == "-inf";
    if (model.mixer == "aft-full" || (model.mixer == "aft-local" && window >= tokens)) {
        kind = Kind::matrix;
        rows = columns = tokens;
    } else if (model.mixer == "aft-local" && window > 0) {
        kind = Kind::band;
        rows = tokens;
        columns = is_causal ? window : 2 * window - 1;
        first_offset = is_causal ? 0 : 1 - window;
    } else if (model.mixer == "aft-conv1d") {
        kind = Kind::kernel1;  // one map per layer: heads are its rows
        rows = std::max<int64_t>(1, model.heads);
        columns = window;
        first_offset = is_causal ? 1 - window : -(window / 2);
    } else if (model.mixer == "aft-conv2d") {
        kind = Kind::kernel2;
        heads = std::max<int64_t>(1, model.heads);
        rows = columns = window;
        first_offset = -(window / 2);
    }
    if (rows <= 0 || columns <= 0) kind = Kind::none;
}

bool BiasForm::is_hidden(int64_t row, int64_t column, int64_t block) const {
    if (is_kernel()) return false;
    const int64_t t0 = row * block, t1 = std::min(t0 + block, rows) - 1;
    const int64_t c0 = column * block, c1 = std::min(c0 + block, columns) - 1;
    if (kind == Kind::band) {  // source j = t - offset must exist
        const int64_t low = t0 - (first_offset + c1), high = t1 - (first_offset + c0);
        return high < 0 || low >= tokens;
    }
    if (is_causal && c0 > t1) return true;
    return hides_outside && window > 0 && (c0 - t1 >= window || t0 - c1 >= window);
}

Cell BiasForm::cell(int64_t layer, int64_t head, int64_t row, int64_t column) const {
    Cell out{.layer = layer, .head = kind == Kind::kernel2 ? head : -1};
    if (kind == Kind::kernel1) out.head = row;
    if (is_kernel()) {
        out.tap = kind == Kind::kernel2 ? row * columns + column : column;
        return out;
    }
    out.target = row;
    out.source = kind == Kind::band ? row - (first_offset + column) : column;
    if (out.source < 0 || out.source >= tokens) out.source = -1;
    return out;
}

bool BiasForm::place(const Cell& cell, int64_t& row, int64_t& column) const {
    row = column = -1;
    if (kind == Kind::kernel2 && cell.tap >= 0) {
        row = cell.tap / columns;
        column = cell.tap % columns;
    } else if (kind == Kind::kernel1 && cell.tap >= 0) {
        row = std::max<int64_t>(0, cell.head);
        column = cell.tap;
    } else if (!is_kernel() && cell.target >= 0 && cell.source >= 0) {
        row = cell.target;
        column = kind == Kind::band ? cell.target - cell.source - first_offset : cell.source;
    }
    return row >= 0 && row < rows && column >= 0 && column < columns;
}

bool is_signed(Quantity quantity) {
    return quantity == Quantity::w || quantity == Quantity::exp_minus_one;
}

double to_w(Quantity quantity, double value) {
    switch (quantity) {
        case Quantity::w:
            return value;
        case Quantity::exp_minus_one:
            return std::log1p(value);
        case Quantity::exp:
            return std::log(value);
        case Quantity::row_share:
            break;
    }
    return std::numeric_limits<double>::quiet_NaN();
}

Range quantity_limits(Quantity quantity, std::span<const float> values, double percentile,
                      bool symmetric) {
    if (!is_signed(quantity)) return {0, value_range(values, percentile, false).high};
    const double m = std::max(1e-9, value_range(values, percentile, true).high);
    if (quantity == Quantity::exp_minus_one) return {std::max(-1.0, -m), m};
    if (symmetric) return {-m, m};
    return value_range(values, percentile, false);
}

ProbeRequest bias_request(const Ui& ui, const BiasForm& form, int64_t layer, int64_t block) {
    ProbeRequest request;
    request.step = ui.selection.step;
    request.layer = layer;
    Quantity quantity = ui.selection.quantity;
    if (form.is_kernel()) {
        request.probe = "kernel";
        if (quantity == Quantity::row_share) quantity = Quantity::exp;
        request.options["quantity"] = quantity_option(quantity);
        return request;
    }
    request.probe = "bias";
    request.options = {{"quantity", quantity_option(quantity)},
                       {"gauge", gauge_option(ui.selection.gauge)},
                       {"visible", "nan"}};
    if (form.kind == BiasForm::Kind::band) request.options["view"] = "band";
    if (block > 1) request.options["blocks"] = std::to_string(block);
    return request;
}

double bias_hold(const BiasForm& form) {
    if (form.is_kernel()) return 0.5;
    const double cells = double(form.layers) * double(form.tokens) * double(form.tokens);
    return std::min(5.0, 0.5 + cells / 4e6);
}

namespace {

std::span<const float> head_values(const Field& field, int64_t head, int64_t heads) {
    const size_t size = field.values.size() / size_t(std::max<int64_t>(1, heads));
    return std::span(field.values).subspan(size_t(head) * size, size);
}

std::vector<float> extremes(std::span<const float> low, std::span<const float> high) {
    std::vector<float> out(low.size());
    for (size_t i = 0; i < out.size(); ++i)
        out[i] = std::abs(low[i]) > std::abs(high[i]) ? low[i] : high[i];
    return out;
}

std::vector<float> seen_values(const BiasMap& map) {
    std::vector<float> out;
    out.reserve(map.shown.size());
    for (size_t i = 0; i < map.shown.size(); ++i)
        if (map.hidden.empty() || map.hidden[i] == 0) out.push_back(map.shown[i]);
    return out;
}

}  // namespace

BiasMap map_of_fields(const FieldSet& fields, const BiasForm& form, int64_t head, int64_t block) {
    BiasMap map;
    map.block = block;
    map.rows = (form.rows + block - 1) / block;
    map.columns = (form.columns + block - 1) / block;
    const Field* const low = fields.find("min");
    const Field* const high = fields.find("max");
    const Field* const mean = fields.find("mean");
    if (low != nullptr && high != nullptr && mean != nullptr) {
        const auto copy = [&](const Field& f) {
            const auto v = head_values(f, head, form.heads);
            return std::vector<float>(v.begin(), v.end());
        };
        map.low = copy(*low);
        map.high = copy(*high);
        map.mean = copy(*mean);
        map.shown = extremes(map.low, map.high);
    } else if (!fields.fields.empty()) {
        const auto v = head_values(fields.fields.front(), head, form.heads);
        map.shown.assign(v.begin(), v.end());
    }
    const bool fits = int64_t(map.shown.size()) == map.rows * map.columns;
    if (!fits) return {};
    if (form.is_kernel()) return map;
    map.hidden.resize(map.shown.size());
    for (int64_t r = 0; r < map.rows; ++r)
        for (int64_t c = 0; c < map.columns; ++c)
            map.hidden[size_t(r * map.columns + c)] = form.is_hidden(r, c, block) ? 1 : 0;
    return map;
}

void BiasLayers::rebuild(const Ui& ui, const BiasForm& form, int64_t block, BiasLayer& layer) {
    layer.maps.clear();
    layer.own.clear();
    layer.version = ++versions_;
    std::vector<float> all;
    for (int64_t head = 0; head < form.heads; ++head) {
        BiasMap map = map_of_fields(*layer.watch.fields(), form, head, block);
        if (map.shown.empty()) {  // an answer of another shape: an older request of this pane
            layer.maps.clear();
            return;
        }
        const std::vector<float> seen = seen_values(map);
        layer.own.push_back(quantity_limits(ui.selection.quantity, seen, ui.selection.percentile,
                                            ui.selection.symmetric));
        all.insert(all.end(), seen.begin(), seen.end());
        layer.maps.push_back(std::move(map));
    }
    layer.limits = quantity_limits(ui.selection.quantity, all, ui.selection.percentile,
                                   ui.selection.symmetric);
}

void BiasLayers::update(Ui& ui, const BiasForm& form, const Wanted& wanted) {
    layers_.resize(size_t(form.layers));
    turns_.assign(size_t(form.layers), {});
    pending_ = 0;
    error_.clear();
    const double signature = ui.selection.percentile * (ui.selection.symmetric ? 1 : -1);
    const bool limits_changed = percentile_ != signature;
    percentile_ = signature;
    quantity_ = ui.selection.quantity;
    for (int64_t i = wanted.first; i < wanted.end; ++i) {
        BiasLayer& layer = layers_[size_t(i)];
        const ProbeRequest request = bias_request(ui, form, i, wanted.block);
        const bool is_new = layer.watch.update(ui, request, turns_[size_t(i)], bias_hold(form));
        if (layer.watch.fields() && (is_new || limits_changed)) {
            const auto& options = layer.watch.shown().options;
            const auto found = options.find("blocks");
            const int64_t had = found == options.end() ? 1 : std::stoll(found->second);
            rebuild(ui, form, had, layer);
        }
        pending_ += layer.watch.is_pending() ? 1 : 0;
        if (!layer.watch.error().empty()) error_ = layer.watch.error();
    }
}

static Coloring coloring_of(const Ui& ui, Range limits) {
    const Selection& s = ui.selection;
    Coloring out;
    out.range = s.range_by_hand.value_or(limits);
    out.map = is_signed(s.quantity) ? ui.look.colors->diverging : Colormap::viridis;
    if (s.quantity == Quantity::exp_minus_one)
        out.scale = s.scale == Scale::two_sided ? Scale::two_sided : Scale::signed_log;
    else if (s.quantity == Quantity::w)
        out.scale = Scale::signed_linear;
    return out;
}

Coloring BiasLayers::coloring(const Ui& ui, int64_t layer, int64_t head) const {
    Range limits = has(layer) ? layers_[size_t(layer)].limits : Range{};
    if (ui.selection.range_mode == RangeMode::own && has(layer))
        limits = layers_[size_t(layer)].own.at(size_t(head));
    if (ui.selection.range_mode == RangeMode::global) {
        bool any = false;
        for (int64_t i = 0; i < int64_t(layers_.size()); ++i) {
            if (!has(i)) continue;
            const Range& r = layers_[size_t(i)].limits;
            limits = any ? Range{std::min(limits.low, r.low), std::max(limits.high, r.high)} : r;
            any = true;
        }
    }
    return coloring_of(ui, limits);
}

std::vector<float> BiasLayers::visible_values(int64_t layer, int64_t head) const {
    if (!has(layer)) return {};
    return seen_values(layers_[size_t(layer)].maps.at(size_t(head)));
}

std::string step_words(const Ui& ui, const FieldSetPtr& fields) {
    const int64_t step =
        fields && !fields->fields.empty() ? fields->fields.front().step : ui.shown_step();
    return fmt::format("{}, step {}", ui.status.name, group_thousands(std::max<int64_t>(0, step)));
}

std::string bias_caption(const Ui& ui, const BiasForm& form, const BiasLayer& layer,
                         bool names_block) {
    const Selection& s = ui.selection;
    std::string out;
    if (names_block && !layer.maps.empty() && layer.maps.front().block > 1)
        out += fmt::format("1:{}, extreme of each block, ", layer.maps.front().block);
    if (form.kind == BiasForm::Kind::band) out += "band of offsets t \u2212 t\u2032, ";
    out += s.range_by_hand                    ? "range set by hand"
           : s.range_mode == RangeMode::own   ? "each map its own range"
           : s.range_mode == RangeMode::layer ? "range shared per layer"
                                              : "one range for all layers";
    if (s.quantity == Quantity::exp_minus_one)
        out += s.scale == Scale::two_sided ? ", arms scaled apart, floor \u22121"
                                           : ", signed log, floor \u22121";
    else
        out += ", linear";
    out += "  \u00B7  " + step_words(ui, layer.watch.fields()) + "  \u00B7  ";
    if (form.is_kernel()) return out + "raw (window fixes the constant)";
    if (!layer.watch.fields() || layer.watch.fields()->fields.empty()) return out;
    const auto& notes = layer.watch.fields()->fields.front().notes;
    const auto gauge = notes.find("gauge");
    return out + (gauge == notes.end() ? "raw" : gauge->second);
}

}  // namespace aft::app

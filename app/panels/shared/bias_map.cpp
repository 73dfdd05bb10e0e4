#include "app/panels/shared/bias_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "viz/map.h"

namespace aft::app {

std::string Blocks::words() const {
    return rows == columns ? std::to_string(rows) : fmt::format("{}\u00D7{}", rows, columns);
}

namespace {

struct LayerSize {
    int64_t tokens = 0, heads = 1, window = 0;
};

// Of a layer; -1: the most of all. Only layers of maps alone differ.
LayerSize size_of(const Status& status, int64_t layer) {
    const MixerTraits& mixer = status.mixer;
    const std::vector<MapLayer>& maps = status.config.model.maps.layers;
    LayerSize out{status.tokens, std::max<int64_t>(1, mixer.heads), mixer.window};
    if (maps.empty()) return out;
    out = {};
    const auto add = [&](const MapLayer& map) {
        // As in the traits.
        const int64_t window = map.layout == BiasLayout::band ? (map.taps + 1) / 2 : map.taps;
        out.tokens = std::max(out.tokens, map.tokens());
        out.heads = std::max(out.heads, map.heads);
        if (mixer.bias == map.layout) out.window = std::max(out.window, window);
    };
    if (layer >= 0 && layer < static_cast<int64_t>(maps.size()))
        add(maps[static_cast<size_t>(layer)]);
    else
        for (const MapLayer& map : maps) add(map);
    return out;
}

}  // namespace

BiasForm::BiasForm(const Status& status, int64_t layer) {
    layers = static_cast<int64_t>(status.layers.size());
    const MixerTraits& mixer = status.mixer;
    const LayerSize size = size_of(status, layer);
    tokens = size.tokens;
    const int64_t window = size.window;
    const bool is_causal = status.config.model.causal();
    visibility = {.is_causal = is_causal,
                  .window = window,
                  .hides_outside = mixer.outside_hidden,
                  .is_centred = mixer.is_centred,
                  .has_masks = mixer.has_masks};
    layout = mixer.has_bias() ? mixer.bias : BiasLayout::none;
    if (layout == BiasLayout::matrix) {
        heads = size.heads;
        rows = columns = tokens;
    } else if (layout == BiasLayout::band) {
        heads = size.heads;
        rows = tokens;
        columns = is_causal ? window : 2 * window - 1;
        first_offset = is_causal ? 0 : 1 - window;
    } else if (layout == BiasLayout::kernel_1d) {  // one map per layer: heads are its rows
        rows = size.heads;
        columns = window;
        first_offset = is_causal && !mixer.is_centred ? 1 - window : -(window / 2);
    } else if (layout == BiasLayout::kernel_2d) {
        heads = size.heads;
        rows = columns = window;
        first_offset = -(window / 2);
    }
    if (rows <= 0 || columns <= 0) layout = BiasLayout::none;
}

Blocks BiasForm::blocks_for(ImVec2 pixels) const {
    if (is_kernel()) return {};
    if (!has_free_axes()) {  // as many rows as columns, at one zoom: the shorter side decides
        const int64_t both =
            viz::filling_block(std::max(rows, columns), std::min(pixels.x, pixels.y));
        return {both, both};
    }
    const Blocks out = {viz::filling_block(rows, pixels.y), viz::filling_block(columns, pixels.x)};
    const int64_t both = std::max(out.rows, out.columns);  // the probe makes square blocks only
    return is_read_whole() ? out : Blocks{both, both};
}

bool is_masked(const BiasForm& form, const BlockCell& cell) {
    return form.visibility.has_masks && std::isnan(cell.value) &&
           !form.is_hidden(cell.row, cell.column, cell.block);
}

bool BiasForm::is_hidden(int64_t row, int64_t column, Blocks block) const {
    if (is_kernel()) {  // sources after the target
        const int64_t down = layout == BiasLayout::kernel_2d ? row + first_offset : 0;
        const int64_t across = column + first_offset;
        return visibility.is_centred && visibility.is_causal &&
               (down > 0 || (down == 0 && across > 0));
    }
    const int64_t t0 = row * block.rows, t1 = std::min(t0 + block.rows, rows) - 1;
    const int64_t c0 = column * block.columns, c1 = std::min(c0 + block.columns, columns) - 1;
    if (layout == BiasLayout::band) {  // source j = t - offset must exist
        const int64_t low = t0 - (first_offset + c1), high = t1 - (first_offset + c0);
        return high < 0 || low >= tokens;
    }
    if (visibility.is_causal && c0 > t1) return true;
    const int64_t window = visibility.window;
    return visibility.hides_outside && window > 0 && (c0 - t1 >= window || t0 - c1 >= window);
}

int64_t BiasForm::seen(int64_t row, int64_t column, Blocks block) const {
    const int64_t t0 = row * block.rows, t1 = std::min(t0 + block.rows, rows);
    const int64_t c0 = column * block.columns, c1 = std::min(c0 + block.columns, columns);
    if (is_kernel()) return (t1 - t0) * (c1 - c0);
    int64_t count = 0;
    for (int64_t t = t0; t < t1; ++t) {
        int64_t low = c0, high = c1;  // what a row sees lies side by side
        if (layout == BiasLayout::band) {
            low = std::max(low, t - first_offset - tokens + 1);
            high = std::min(high, t - first_offset + 1);
        } else {
            if (visibility.is_causal) high = std::min(high, t + 1);
            if (visibility.hides_outside && visibility.window > 0) {
                low = std::max(low, t - visibility.window + 1);
                high = std::min(high, t + visibility.window);
            }
        }
        count += std::max<int64_t>(0, high - low);
    }
    return count;
}

Cell BiasForm::cell(int64_t layer, int64_t head, int64_t row, int64_t column) const {
    Cell out{.layer = layer, .head = has_heads() ? head : -1};
    if (layout == BiasLayout::kernel_1d) out.head = row;
    if (is_kernel()) {
        out.tap = layout == BiasLayout::kernel_2d ? row * columns + column : column;
        return out;
    }
    out.target = row;
    out.source = layout == BiasLayout::band ? row - (first_offset + column) : column;
    if (out.source < 0 || out.source >= tokens) out.source = -1;
    return out;
}

bool BiasForm::place(const Cell& cell, int64_t& row, int64_t& column) const {
    row = column = -1;
    if (layout == BiasLayout::kernel_2d && cell.tap >= 0) {
        row = cell.tap / columns;
        column = cell.tap % columns;
    } else if (layout == BiasLayout::kernel_1d && cell.tap >= 0) {
        row = std::max<int64_t>(0, cell.head);
        column = cell.tap;
    } else if (!is_kernel() && cell.target >= 0 && cell.source >= 0) {
        row = cell.target;
        column =
            layout == BiasLayout::band ? cell.target - cell.source - first_offset : cell.source;
    }
    return row >= 0 && row < rows && column >= 0 && column < columns;
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

// values - before; empty if they do not match. Without `before`: a copy.
std::vector<float> change(std::span<const float> values, const Field* before, int64_t head,
                          int64_t heads) {
    std::vector<float> out(values.begin(), values.end());
    if (before == nullptr) return out;
    const std::span<const float> old = head_values(*before, head, heads);
    if (old.size() != out.size()) return {};
    for (size_t i = 0; i < out.size(); ++i) out[i] -= old[i];
    return out;
}

struct Cut {  // the values of one block so far
    double sum = 0, squares = 0;
    float low = std::numeric_limits<float>::infinity(), high = -low;
    int64_t count = 0;
    bool has_nan = false;
    void add(float v) {
        sum += v;
        squares += double(v) * v;
        low = std::min(low, v);
        high = std::max(high, v);
        has_nan |= std::isnan(v);
        ++count;
    }
};

// Mean, minimum, maximum and norm of every block, over the cells that can be seen.
void cut_blocks(const std::vector<float>& whole, const BiasForm& form, BiasMap& map) {
    const size_t cells = size_t(map.rows * map.columns);
    std::vector<Cut> cuts(cells);
    for (int64_t r = 0; r < form.rows; ++r) {
        const int64_t row = r / map.block.rows * map.columns;
        for (int64_t c = 0; c < form.columns; ++c) {
            const float value = whole[size_t(r * form.columns + c)];
            if (form.is_hidden(r, c, {}) || (form.visibility.has_masks && std::isnan(value)))
                continue;
            cuts[size_t(row + c / map.block.columns)].add(value);
        }
    }
    if (form.visibility.has_masks)
        for (const Cut& cut : cuts) map.count.push_back(float(cut.count));
    map.low.resize(cells);
    map.mean.resize(cells);
    map.high.resize(cells);
    map.norm.resize(cells);
    for (size_t i = 0; i < cells; ++i) {
        const Cut& cut = cuts[i];
        const bool is_number = cut.count > 0 && !cut.has_nan;
        map.low[i] = is_number ? cut.low : std::numeric_limits<float>::quiet_NaN();
        map.high[i] = is_number ? cut.high : map.low[i];
        map.mean[i] = is_number ? float(cut.sum / double(cut.count)) : map.low[i];
        map.norm[i] = is_number ? float(std::sqrt(cut.squares)) : map.low[i];
    }
    map.shown = extremes(map.low, map.high);
}

void take_probe_blocks(const BiasFields& from, const BiasForm& form, int64_t head, BiasMap& map) {
    const auto values = [&](const char* name) {
        return head_values(*from.fields.find(name), head, form.heads);
    };
    if (from.before == nullptr) {
        const auto copy = [](std::span<const float> v) {
            return std::vector<float>(v.begin(), v.end());
        };
        map.low = copy(values("min"));
        map.high = copy(values("max"));
        map.mean = copy(values("mean"));
        map.norm = copy(values("norm"));
        if (from.fields.find("count") != nullptr) map.count = copy(values("count"));
        map.shown = extremes(map.low, map.high);
        return;
    }
    map.mean = change(values("mean"), from.before->find("mean"), head, form.heads);
    map.shown = map.low = map.high = map.mean;
}

// Blocks of which masks hide some values, but not all.
std::vector<uint8_t> partly_masked(const BiasForm& form, const BiasMap& map) {
    std::vector<uint8_t> out;
    if (!map.has_masks || int64_t(map.count.size()) != map.rows * map.columns) return out;
    bool any = false;
    for (int64_t r = 0; r < map.rows; ++r)
        for (int64_t c = 0; c < map.columns; ++c) {
            const float count = map.count[out.size()];
            const bool is_partly = count > 0 && count < float(form.seen(r, c, map.block));
            out.push_back(is_partly ? 1 : 0);
            any |= is_partly;
        }
    return any ? out : std::vector<uint8_t>();
}

}  // namespace

BiasMap map_of_fields(const BiasFields& from, const BiasForm& of, int64_t head, Blocks block) {
    BiasForm form = of;
    for (const Field& field : from.fields.fields)
        if (field.notes.contains("masks")) form.visibility.has_masks = true;
    BiasMap map;
    map.block = block;
    map.rows = (form.rows + block.rows - 1) / block.rows;
    map.columns = (form.columns + block.columns - 1) / block.columns;
    const bool has_before = from.before != nullptr;
    if (from.fields.fields.empty() || (has_before && from.before->fields.empty())) return {};
    if (from.fields.find("min") != nullptr) {
        if (has_before && from.before->find("mean") == nullptr) return {};
        take_probe_blocks(from, form, head, map);
    } else {
        std::vector<float> whole =
            change(head_values(from.fields.fields.front(), head, form.heads),
                   has_before ? from.before->fields.data() : nullptr, head, form.heads);
        if (int64_t(whole.size()) != form.rows * form.columns) return {};
        const Field* const w = has_before ? nullptr : from.fields.find("w");
        if (block.is_single() && w != nullptr && w != from.fields.fields.data()) {
            const std::span<const float> exact = head_values(*w, head, form.heads);
            if (exact.size() == whole.size()) map.w.assign(exact.begin(), exact.end());
        }
        if (block.is_single())
            map.shown = std::move(whole);
        else
            cut_blocks(whole, form, map);
    }
    if (from.block_value == BlockValue::mean && !map.mean.empty()) map.shown = map.mean;
    if (int64_t(map.shown.size()) != map.rows * map.columns) return {};
    if (form.is_kernel() && !form.visibility.is_centred) return map;
    map.has_masks = form.visibility.has_masks;
    map.partly = partly_masked(form, map);
    map.hidden.resize(map.shown.size());
    std::vector<uint8_t> masked(map.has_masks ? map.shown.size() : 0);
    for (int64_t r = 0; r < map.rows; ++r)
        for (int64_t c = 0; c < map.columns; ++c) {
            const auto i = size_t(r * map.columns + c);
            map.hidden[i] = form.is_hidden(r, c, block) ? 1 : 0;
            if (is_masked(form, {r, c, block, map.shown[i]})) map.hidden[i] = masked[i] = 1;
        }
    if (std::ranges::find(masked, 1) != masked.end()) map.masked = std::move(masked);
    return map;
}

}  // namespace aft::app

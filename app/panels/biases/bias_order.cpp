#include "app/panels/biases/bias_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "app/panels/shared/formation_rows.h"
#include "app/panels/shared/tool_row.h"
#include "app/widgets/combo.h"
#include "core/text.h"

namespace aft::app {

namespace {

constexpr double kOrderHold = 5;  // seconds between two looks while training runs

// Of the values that can be seen.
double root_mean_square(const BiasMap& map) {
    double sum = 0;
    int64_t count = 0;
    for (size_t i = 0; i < map.shown.size(); ++i) {
        if ((!map.hidden.empty() && map.hidden[i] != 0) || std::isnan(map.shown[i])) continue;
        sum += double(map.shown[i]) * map.shown[i];
        ++count;
    }
    return count == 0 ? NAN : std::sqrt(sum / double(count));
}

// Without its mean and of norm 1, so that a correlation is a sum of products.
std::vector<float> centred(const BiasMap& map) {
    std::vector<float> out(map.shown.size(), 0);
    double sum = 0, squares = 0;
    int64_t count = 0;
    const auto counts = [&](size_t i) {
        return (map.hidden.empty() || map.hidden[i] == 0) && std::isfinite(map.shown[i]);
    };
    for (size_t i = 0; i < out.size(); ++i)
        if (counts(i)) {
            sum += map.shown[i];
            ++count;
        }
    const double mean = count == 0 ? 0 : sum / double(count);
    for (size_t i = 0; i < out.size(); ++i)
        if (counts(i)) {
            out[i] = float(map.shown[i] - mean);
            squares += double(out[i]) * out[i];
        }
    const auto scale = float(squares > 0 ? 1 / std::sqrt(squares) : 0);
    for (float& value : out) value *= scale;
    return out;
}

double correlation(const std::vector<float>& a, const std::vector<float>& b) {
    if (a.size() != b.size()) return -1;
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

}  // namespace

std::vector<int64_t> largest_first(std::span<const double> keys) {
    std::vector<int64_t> order(keys.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
        const double x = keys[size_t(a)], y = keys[size_t(b)];
        return std::isnan(y) ? !std::isnan(x) : x > y;
    });
    return order;
}

std::vector<int64_t> neighbours_alike(std::span<const BiasMap* const> maps,
                                      std::vector<double>& keys) {
    keys.assign(maps.size(), NAN);
    std::vector<std::vector<float>> shapes;
    std::vector<double> sizes;
    for (const BiasMap* map : maps) {
        shapes.push_back(centred(*map));
        sizes.push_back(root_mean_square(*map));
    }
    std::vector<int64_t> left = largest_first(sizes), order;
    if (left.empty()) return order;
    order.push_back(left.front());
    left.erase(left.begin());
    std::sort(left.begin(), left.end());
    while (!left.empty()) {
        size_t best = 0;
        double most = -2;
        for (size_t i = 0; i < left.size(); ++i) {
            const double r = correlation(shapes[size_t(order.back())], shapes[size_t(left[i])]);
            if (r <= most) continue;
            most = r;
            best = i;
        }
        keys[size_t(left[best])] = most;
        order.push_back(left[best]);
        left.erase(left.begin() + std::ptrdiff_t(best));
    }
    return order;
}

void BiasOrder::follow(const ViewState& ui) {
    const OrderKey chosen = ui.selection.order;
    const OrderKey key =
        chosen == OrderKey::change && !shows_change(ui) ? OrderKey::position : chosen;
    if (std::exchange(key_, key) != key) fellows_.clear();
}

void BiasOrder::draw_tool(PaneContext& ui) {
    std::vector<std::string> list = {"position##position", "RMS##rms", "entropy##entropy",
                                     "distance##distance", "alike##alike"};
    std::vector<OrderKey> keys = {OrderKey::position, OrderKey::rms, OrderKey::entropy,
                                  OrderKey::distance, OrderKey::alike};
    if (shows_change(ui)) {
        list.emplace_back("change##change");
        keys.push_back(OrderKey::change);
    }
    inline_label(ui, "Order");
    const auto now = std::find(keys.begin(), keys.end(), key_);
    int chosen = now == keys.end() ? 0 : int(now - keys.begin());
    const char* const tip =
        "The largest first, the number beside each map. RMS: of w, gauge fixed, in nats; entropy: "
        "of a target's share, 1 = flat; distance: its mean; change: RMS of the change since the "
        "pin, as drawn; alike: each map beside the one left that it correlates with most.";
    if (!combo(ui, "Order##order", chosen, {.list = list, .width = 110, .tip = tip})) return;
    ui.selection.order = keys[size_t(chosen)];
    follow(ui);
}

double BiasOrder::number_of(int64_t layer, int64_t head) const {
    if (!formation_.fields()) return NAN;
    const Field& field = formation_.fields()->fields.front();
    const auto row = formation_row(field, layer, head);
    const size_t column = key_ == OrderKey::rms ? 0 : key_ == OrderKey::entropy ? 1 : 3;
    return row ? field.values.at(*row * kFormationNumbers + column) : NAN;
}

void BiasOrder::sort(const BiasLayers& layers, Fellows& of, int64_t layer, int64_t count) {
    if (needs_numbers()) {
        of.keys.clear();
        for (int64_t i = 0; i < count; ++i)
            of.keys.push_back(number_of(layer < 0 ? i : layer, layer < 0 ? 0 : i));
        of.order = largest_first(of.keys);
        return;
    }
    uint64_t version = 1;
    std::vector<const BiasMap*> maps;
    for (int64_t i = 0; i < count; ++i) {
        const int64_t own = layer < 0 ? i : layer;
        if (!layers.has(own)) return;  // when all are there
        version += layers.layer(own).version;
        const auto head = size_t(layer < 0 ? 0 : i);
        if (head >= layers.layer(own).maps.size()) return;
        maps.push_back(&layers.layer(own).maps[head]);
    }
    if (of.version == version) return;
    of.version = version;
    if (key_ == OrderKey::alike) {
        of.order = neighbours_alike(maps, of.keys);
        return;
    }
    of.keys.clear();
    for (const BiasMap* map : maps) of.keys.push_back(root_mean_square(*map));
    of.order = largest_first(of.keys);
}

void BiasOrder::update(const PaneContext& ui, const BiasLayers& layers, bool in_layers) {
    if (in_layers != in_layers_) fellows_.clear();
    in_layers_ = in_layers;
    const auto all = int64_t(ui.status.layers.size());
    fellows_.resize(is_sorted() ? (in_layers ? size_t(all) : 1) : 0);
    if (!is_sorted()) return;
    if (needs_numbers()) {
        ProbeRequest request;
        request.probe = "formation";
        request.step = ui.selection.step;
        AskTurn turn;
        (void)formation_.update(ui, request, turn, kOrderHold);
    }
    if (!in_layers) return sort(layers, fellows_.front(), -1, all);
    for (int64_t i = 0; i < all; ++i) sort(layers, fellows_[size_t(i)], i, layers.form(i).heads);
}

const BiasOrder::Fellows* BiasOrder::fellows_of(int64_t layer) const {
    const size_t at = in_layers_ ? size_t(std::max<int64_t>(0, layer)) : 0;
    return at < fellows_.size() ? &fellows_[at] : nullptr;
}

int64_t BiasOrder::place_of(int64_t layer, int64_t head) const {
    const int64_t own = in_layers_ ? std::max<int64_t>(0, head) : layer;
    const Fellows* const of = fellows_of(layer);
    if (of == nullptr) return own;
    const auto found = std::find(of->order.begin(), of->order.end(), own);
    return found == of->order.end() ? own : found - of->order.begin();
}

int64_t BiasOrder::head_at(int64_t layer, int64_t place) const {
    const Fellows* const of = in_layers_ ? fellows_of(layer) : nullptr;
    return of != nullptr && place < int64_t(of->order.size()) ? of->order[size_t(place)] : place;
}

int64_t BiasOrder::layer_at(int64_t place) const {
    const Fellows* const of = in_layers_ ? nullptr : fellows_of(0);
    return of != nullptr && place < int64_t(of->order.size()) ? of->order[size_t(place)] : place;
}

std::string BiasOrder::key_words(int64_t layer, int64_t head) const {
    const Fellows* const of = fellows_of(layer);
    const auto own = size_t(in_layers_ ? std::max<int64_t>(0, head) : layer);
    if (of == nullptr || own >= of->keys.size() || std::isnan(of->keys[own])) return "";
    return (key_ == OrderKey::alike ? "r " : "") + significant(of->keys[own], 3);
}

}  // namespace aft::app

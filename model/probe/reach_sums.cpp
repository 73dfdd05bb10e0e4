#include "model/probe/reach_sums.h"

#include <ATen/ATen.h>

#include <limits>

namespace aft::probe {

namespace {

// The grid that a mixer alone slides over, or that its file states.
Places places_alone(const ModelConfig& model, int64_t tokens, int64_t layer) {
    MapLayer grid{.height = model.grid_height(), .width = model.grid_width()};
    if (layer >= 0 && layer < static_cast<int64_t>(model.maps.layers.size()))
        grid = model.maps.layers[static_cast<size_t>(layer)];
    const at::Tensor place = at::floor_divide(at::arange(tokens, at::kLong), grid.channels);
    const at::Tensor placed = at::where(place < grid.height * grid.width, place, -1);
    return {placed, placed, grid.width, grid.channels};
}

// sums [heads, n] += values at their index. Head by head: of several dimensions index_add_ adds a
// slice for every single index.
void add_by_index(at::Tensor& sums, const at::Tensor& index, const at::Tensor& values) {
    const at::Tensor flat = index.flatten();
    for (int64_t head = 0; head < sums.size(0); ++head)
        sums.select(0, head).index_add_(0, flat, values.select(0, head).flatten());
}

}  // namespace

Places places_of(const ModelConfig& model, int64_t tokens, int64_t layer) {
    const TaskTraits& task = task_traits(model);
    if (task.is_mixer_alone) return places_alone(model, tokens, layer);
    const at::Tensor i = at::arange(tokens, at::kLong);
    // Of a text source t' holds the token before position t', as its target is the next one.
    if (task.is_text()) return {i, task.is_autoregressive ? i - 1 : i, tokens};
    if (!task.is_autoregressive) {
        const at::Tensor place = i - model.prefix_tokens();
        return {place, place, model.grid_width()};
    }
    const int64_t channels = task.tokens == TokenKind::values ? model.channels : 1;
    const at::Tensor pixel = at::floor_divide(i, channels);
    const at::Tensor carried = at::where(i > 0, at::floor_divide(i - 1, channels), -1);
    return {pixel, carried, model.grid_width() / channels, channels};
}

ReachSums::ReachSums(int64_t heads, Places places)
    : places_(std::move(places)),
      by_distance_(at::zeros({heads, places_.target.size(0) + 1}, at::kDouble)),
      directions_(at::zeros({heads, 5}, at::kDouble)) {}

void ReachSums::add(const at::Tensor& share, int64_t first) {
    const int64_t n = share.size(1);
    const at::Tensor t = places_.target.slice(0, first, first + n).unsqueeze(1);
    const at::Tensor j = places_.source.unsqueeze(0);
    const auto row = [&](const at::Tensor& x) { return at::floor_divide(x, places_.width); };
    const at::Tensor dy = row(j) - row(t);
    const at::Tensor dx = j.remainder(places_.width) - t.remainder(places_.width);
    const at::Tensor counts = (t >= 0) & at::ones_like(j, at::kBool);
    const at::Tensor has_place = counts & (j >= 0);
    const at::Tensor distance = at::maximum(dy.abs(), dx.abs());
    const at::Tensor placed = share * has_place;
    add_by_index(by_distance_, distance, placed);
    const at::Tensor masks[] = {dx < 0, dx > 0, dy < 0, dy > 0};
    for (int64_t i = 0; i < 4; ++i) directions_.select(1, i).add_((placed * masks[i]).sum({1, 2}));
    directions_.select(1, 4).add_((share * (counts & (j < 0))).sum({1, 2}));
    targets_ += counts.select(1, 0).sum().item<int64_t>();
}

at::Tensor ReachSums::numbers() const {
    const at::Tensor all = by_distance_.sum(1, true).clamp_min(1e-300);
    const at::Tensor sums = by_distance_.cumsum(1) / all;
    const auto within = [&](double part) { return (sums < part - 1e-12).sum(1).to(at::kDouble); };
    const at::Tensor steps = at::arange(by_distance_.size(1), at::kDouble);
    const at::Tensor mean = (by_distance_ * steps).sum(1) / all.squeeze(1);
    const at::Tensor parts = directions_ / static_cast<double>(std::max<int64_t>(1, targets_));
    return at::cat({at::stack({within(0.5), within(0.9), mean}, 1), parts}, 1);
}

at::Tensor prior_share(const BiasRows& rows) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    return at::softmax(at::where(rows.visible, rows.values, -kInfinity), 2).nan_to_num(0);
}

}  // namespace aft::probe

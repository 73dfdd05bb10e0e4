#include "model/checkpoints/map_tensors.h"

#include <ATen/ATen.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>

#include "core/check.h"
#include "core/outside.h"

namespace aft {

namespace {

std::string sides_text(const at::Tensor& tensor) {
    return fmt::format("[{}]", fmt::join(tensor.sizes(), ", "));
}

// What the layer's layout allows, in words.
std::string allowed_shape(const MapLayer& layer) {
    const int64_t T = layer.tokens();
    switch (layer.layout) {
        case BiasLayout::band:
            return fmt::format("[heads, {}, s] with an odd s", T);
        case BiasLayout::kernel_1d:
            return "[heads, s] with an odd s";
        case BiasLayout::kernel_2d:
            return "[heads, s, s] with an odd s";
        default:
            return fmt::format("[{0}, {0}] or [heads, {0}, {0}]", T);
    }
}

// Whether a tensor of these sides is what the layout says; heads and taps apart.
bool has_rank_and_tokens(const MapLayer& layer, at::IntArrayRef sides) {
    const int64_t T = layer.tokens();
    const size_t rank = sides.size();
    switch (layer.layout) {
        case BiasLayout::band:
            return rank == 3 && sides[1] == T;
        case BiasLayout::kernel_1d:
            return rank == 2;
        case BiasLayout::kernel_2d:
            return rank == 3 && sides[1] == sides[2];
        default:
            return (rank == 2 || rank == 3) && sides[rank - 1] == T && sides[rank - 2] == T;
    }
}

// path: of the file, with which every message begins.
void take_shape(MapLayer& layer, const std::string& name, const at::Tensor& tensor,
                const std::string& path) {
    const at::IntArrayRef sides = tensor.sizes();
    const bool is_matrix = layer.layout == BiasLayout::matrix;
    const auto refuse = [&](const std::string& more) {
        fail("{}: tensor '{}' has shape {}; a {} of a grid of {} positions is {}{}", path, name,
             sides_text(tensor), map_layout_word(layer.layout), layer.tokens(),
             allowed_shape(layer), more);
    };
    if (!has_rank_and_tokens(layer, sides)) refuse("");
    layer.has_heads = !is_matrix || sides.size() == 3;
    layer.heads = layer.has_heads ? sides[0] : 1;
    layer.taps = is_matrix ? 0 : sides[sides.size() - 1];
    if (!is_matrix && layer.taps % 2 == 0) refuse("");
    const int64_t most_taps = 2 * kMostMapTokens - 1;
    if (layer.taps > most_taps) refuse(fmt::format(", s up to {}", most_taps));
    if (layer.heads < 1 || layer.heads > kMostMapHeads)
        refuse(fmt::format(", 1 to {} heads", kMostMapHeads));
}

void check_values(const std::string& name, const at::Tensor& tensor, const std::string& path) {
    if (tensor.scalar_type() != at::kFloat)
        fail("{}: tensor '{}' has dtype {}, allowed: F32, F16, BF16", path, name,
             c10::toString(tensor.scalar_type()));
    if (tensor.is_meta()) return;
    const at::Tensor flat = tensor.flatten();
    const at::Tensor bad = flat.isnan() | flat.isposinf();
    if (!bad.any().item<bool>()) return;
    const auto at = bad.to(at::kByte).argmax().item<int64_t>();
    fail(
        "{}: tensor '{}' holds {} (value {} of {}); allowed: numbers, and -inf for a source that "
        "its target cannot see",
        path, name, flat[at].isnan().item<bool>() ? "NaN" : "+inf", at, flat.numel());
}

}  // namespace

std::string map_tensor_name(int64_t layer) {
    return "biases." + std::to_string(layer);
}

void take_map_tensors(MapsConfig& maps, MapTensors& tensors, const std::string& path) {
    std::map<std::string, at::Tensor> found(tensors.begin(), tensors.end());
    const auto last = static_cast<int64_t>(maps.layers.size()) - 1;
    MapTensors ordered;
    for (int64_t i = 0; i <= last; ++i) {
        const std::string name = map_tensor_name(i);
        const auto tensor = found.find(name);
        if (tensor == found.end())
            fail("{}: tensor '{}' is missing; {} layers need biases.0 to biases.{}", path, name,
                 maps.layers.size(), last);
        check_values(name, tensor->second, path);
        take_shape(maps.layers[static_cast<size_t>(i)], name, tensor->second, path);
        ordered.emplace_back(name, tensor->second);
        found.erase(tensor);
    }
    int64_t heads = 0;
    for (const MapLayer& layer : maps.layers) heads = std::max(heads, layer.heads);
    if ((last + 1) * heads > kMostMaps)
        fail("{}: {} layers of up to {} heads each; allowed: {} maps in all", path, last + 1, heads,
             kMostMaps);
    if (!found.empty())
        fail("{}: tensor '{}' belongs to no layer; allowed: biases.0 to biases.{}", path,
             shown(found.begin()->first), last);
    tensors = std::move(ordered);
}

namespace {

// Offsets of the taps along an axis, [s].
at::Tensor offsets_of(const MapLayer& layer) {
    return at::arange(layer.taps, at::kLong) - layer.taps / 2;
}

}  // namespace

at::Tensor visible_values(const MapLayer& layer, bool causal, const at::Tensor& of_head) {
    const int64_t T = layer.tokens();
    at::Tensor seen = of_head.ne(-std::numeric_limits<double>::infinity());
    if (layer.layout == BiasLayout::matrix) {
        if (causal) seen = seen.tril();
        return of_head.masked_select(seen);
    }
    const at::Tensor offset = offsets_of(layer);
    if (layer.layout == BiasLayout::band) {
        const at::Tensor j = at::arange(T, at::kLong).unsqueeze(1) + offset;  // [T, s]
        seen = seen & (j >= 0) & (j < T);
        if (causal) seen = seen & (offset <= 0);
        return of_head.masked_select(seen);
    }
    if (layer.layout == BiasLayout::kernel_1d) {
        seen = seen & (offset.abs() < T);
        if (causal) seen = seen & (offset <= 0);
        return of_head.masked_select(seen);
    }
    const at::Tensor down = offset.unsqueeze(1), across = offset.unsqueeze(0);
    seen = seen & (down.abs() < layer.height) & (across.abs() < layer.columns());
    // Raster order: a row above, or the same row and no later column.
    if (causal) seen = seen & ((down < 0) | ((down == 0) & (across <= 0)));
    return of_head.masked_select(seen);
}

}  // namespace aft

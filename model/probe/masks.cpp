#include "model/probe/masks.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/text.h"
#include "model/nn/parameters.h"
#include "model/probe/parts.h"
#include "model/tasks/task.h"

namespace aft::probe {

namespace {

LayerMasks masks_of_layer(const ModelConfig& model, int64_t layer, const at::Tensor& w) {
    constexpr int64_t kRows = 256;
    const at::Tensor open = at::where(w.isneginf(), 0.0, w);  // the same without what is hidden
    const BiasTable masked(model, {.w = w, .u = {}, .r = {}}, layer);
    const BiasTable whole(model, {.w = open, .u = {}, .r = {}}, layer);
    LayerMasks out{.layer = layer, .blind = {}};
    for (int64_t first = 0; first < masked.tokens(); first += kRows) {
        const int64_t end = std::min(first + kRows, masked.tokens());
        const at::Tensor seen = masked.rows(first, end).visible_of(0);
        const int64_t pairs = whole.rows(first, end).visible_of(0).sum().item<int64_t>();
        out.pairs += pairs;
        out.hidden += pairs - seen.sum().item<int64_t>();
        const at::Tensor blind = seen.any(1).logical_not().nonzero().flatten();
        for (int64_t i = 0; i < blind.numel(); ++i)
            out.blind.push_back(first + blind[i].item<int64_t>());
    }
    return out;
}

// "targets 3, 5 and 7 more see no source"
std::string blind_words(const std::vector<int64_t>& targets) {
    constexpr size_t kNamed = 5;
    const size_t named = std::min(kNamed, targets.size());
    const auto end = targets.begin() + static_cast<std::ptrdiff_t>(named);
    const std::string more =
        targets.size() > named ? fmt::format(" and {} more", targets.size() - named) : "";
    const bool is_one = targets.size() == 1;
    return fmt::format("{} {}{} {} no source", is_one ? "target" : "targets",
                       fmt::join(targets.begin(), end, ", "), more, is_one ? "sees" : "see");
}

}  // namespace

std::vector<LayerMasks> masks_of(const ModelConfig& model,
                                 const std::vector<std::pair<std::string, at::Tensor>>& weights) {
    std::vector<LayerMasks> out;
    if (task_traits(model).is_bias_alone) return out;
    const int64_t T = model.tokens();
    for (const auto& [name, value] : weights) {
        const int64_t layer = parameter_layer(name);
        const bool is_table = name == fmt::format("blocks.{}.mixer.w", layer) &&
                              value.sizes() == at::IntArrayRef({T, T});
        if (!is_table || layer >= model.layers || !mixer_traits(model, layer).has_bias()) continue;
        const at::Tensor w = value.detach().to(at::kCPU);
        if (!w.isneginf().any().item<bool>()) continue;
        LayerMasks masks = masks_of_layer(model, layer, w);
        if (masks.hidden > 0) out.push_back(std::move(masks));
    }
    return out;
}

std::string hidden_words(const LayerMasks& masks) {
    return fmt::format("layer {} hides {} of {} pairs (w = -inf)", masks.layer,
                       group_thousands(masks.hidden), group_thousands(masks.pairs));
}

std::vector<std::string> weight_faults(
    const ModelConfig& model, const std::vector<std::pair<std::string, at::Tensor>>& weights) {
    std::vector<std::string> faults;
    for (const auto& [name, value] : weights)
        if (!is_sound(name, value)) faults.push_back(name);
    for (const LayerMasks& masks : masks_of(model, weights))
        if (!masks.blind.empty())
            faults.push_back(
                fmt::format("blocks.{}.mixer.w ({})", masks.layer, blind_words(masks.blind)));
    return faults;
}

}  // namespace aft::probe

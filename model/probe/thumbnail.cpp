#include "model/probe/thumbnail.h"

#include <ATen/ATen.h>

#include "model/checkpoints/map_tensors.h"
#include "model/mixers/aft_layer.h"
#include "model/probe/parts.h"

namespace aft {

namespace {

// A mixer's position-bias parameters as they are stored, float32; undefined where there are none.
struct LayerBias {
    StoredBias table;
    Kernel kernel;
};

LayerBias find_bias(const std::vector<std::pair<std::string, at::Tensor>>& tensors,
                    const std::string& prefix) {
    const auto find = [&](const char* name) {
        for (const auto& [key, value] : tensors)
            if (key == prefix + name) return value.detach().to(at::kCPU, at::kFloat);
        return at::Tensor();
    };
    return {.table = {.w = find("w"), .u = find("u"), .r = find("r")},
            .kernel = {find("kernel"), find("gamma"), find("beta")}};
}

// exp(w)-1 [T, T], a block of rows at a time: w of factors is never there as a whole in float64.
at::Tensor table_map(const probe::BiasTable& table) {
    constexpr int64_t kRows = 256;
    std::vector<at::Tensor> parts;
    for (int64_t first = 0; first < table.tokens(); first += kRows) {
        probe::BiasRows rows = table.rows(first, std::min(first + kRows, table.tokens()));
        if (table.traits().free_rows) (void)probe::fix_gauge(rows);
        parts.push_back(at::where(rows.visible_of(0), rows.values[0], 0.0).expm1().to(at::kFloat));
    }
    return at::cat(parts, 0);
}

at::Tensor bias_map(const ModelConfig& model, const LayerBias& found) {
    if (found.kernel.k.defined()) {
        Kernel kernel = found.kernel;
        kernel.gumbel_tau = model.own.read<KernelSettings>().kernel_gumbel_tau;
        const at::Tensor w = kernel.effective();
        return at::expm1(w.dim() == 3 ? w[0] : w);
    }
    const StoredBias& bias = found.table;
    const int64_t T = model.tokens();  // what does not fit the config has no map
    const bool is_dense = bias.w.defined() && bias.w.sizes() == at::IntArrayRef({T, T});
    const bool has_factors = bias.u.defined() && bias.r.defined() && bias.u.dim() == 2 &&
                             bias.u.size(0) == T && bias.u.sizes() == bias.r.sizes();
    if (!is_dense && !has_factors) return {};
    return table_map(probe::BiasTable(model, bias));
}

// Of maps alone; undefined: not among the tensors, or too many pairs for a thumbnail.
at::Tensor alone_map(const ModelConfig& model, int64_t layer, const at::Tensor& w) {
    constexpr int64_t kMostSide = 4096;
    const MixerTraits traits = mixer_traits(model, layer);
    if (traits.has_kernel()) return at::expm1(w.dim() == 3 ? w[0] : w);
    if (model.maps.layers[static_cast<size_t>(layer)].tokens() > kMostSide) return {};
    return table_map(probe::BiasTable(model, {.w = w, .u = {}, .r = {}}, layer));
}

// Blocks of whole values, each the value of largest magnitude (a mean would hide single cells).
Field blocks_of(const at::Tensor& map) {
    Field field;
    if (!map.defined() || map.dim() != 2 || map.numel() == 0) return field;
    constexpr int64_t kSide = 48;
    const auto side = [](int64_t n) { return (n + kSide - 1) / kSide; };  // of a block
    const int64_t height = side(map.size(0)), width = side(map.size(1));
    const int64_t rows = (map.size(0) + height - 1) / height;
    const int64_t columns = (map.size(1) + width - 1) / width;
    const at::Tensor padded = at::constant_pad_nd(
        map, {0, columns * width - map.size(1), 0, rows * height - map.size(0)});
    const at::Tensor cells = padded.view({rows, height, columns, width})
                                 .permute({0, 2, 1, 3})
                                 .reshape({rows, columns, -1});
    const at::Tensor at_extreme = cells.abs().argmax(-1, true);
    const at::Tensor values = cells.gather(-1, at_extreme).contiguous();
    field.name = "thumbnail";
    field.axes = {"target", "source"};
    field.shape = {rows, columns};
    field.values.assign(values.data_ptr<float>(), values.data_ptr<float>() + values.numel());
    return field;
}

}  // namespace

Field bias_thumbnail(const ModelConfig& model,
                     const std::vector<std::pair<std::string, at::Tensor>>& tensors) {
    const int64_t middle = model.layers / 2;
    if (task_traits(model).is_bias_alone) {
        for (const auto& [name, value] : tensors)
            if (name == map_tensor_name(middle))
                return blocks_of(alone_map(model, middle, value.detach().to(at::kCPU, at::kFloat)));
        return {};
    }
    const std::string prefix = fmt::format("blocks.{}.mixer.", middle);
    return blocks_of(bias_map(model, find_bias(tensors, prefix)));
}

}  // namespace aft

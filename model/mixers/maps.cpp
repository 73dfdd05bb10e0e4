// maps: the position bias of a layer of any model, and nothing else of it: as it is stored, in one
// of four layouts (model/maps.h). It takes no input. Layers of one file differ as they like.
#include <ATen/ATen.h>

#include <algorithm>

#include "core/check.h"
#include "model/mixers/mixer.h"

namespace aft {

MixerRoom maps_mixer();

namespace {

class BiasAlone final : public Mixer, public GivenBias {
  public:
    explicit BiasAlone(at::Tensor w) : w_(std::move(w)) {}
    [[nodiscard]] at::Tensor forward(const at::Tensor&, const MixContext&) const override {
        fail_usage("a layer of position biases alone takes no input");
    }
    [[nodiscard]] std::optional<at::Tensor> bias(int64_t) const override { return w_.detach(); }
    void set_bias(const at::Tensor& w, ParameterMaker& maker, const std::string& prefix) override {
        w_ = maker.given(prefix, w, ParameterGroup::position_bias);
    }

  private:
    at::Tensor w_;
};

const MapLayer& map_at(const ModelConfig& model, int64_t layer) {
    AFT_ASSERT(layer >= 0 && layer < static_cast<int64_t>(model.maps.layers.size()));
    return model.maps.layers[static_cast<size_t>(layer)];
}

std::vector<int64_t> map_shape(const MapLayer& layer) {
    const int64_t T = layer.tokens(), h = layer.heads, s = layer.taps;
    switch (layer.layout) {
        case BiasLayout::band:
            return {h, T, s};
        case BiasLayout::kernel_1d:
            return {h, s};
        case BiasLayout::kernel_2d:
            return {h, s, s};
        default:
            return layer.has_heads ? std::vector<int64_t>{h, T, T} : std::vector<int64_t>{T, T};
    }
}

// Bands: |t - j| < window; kernels: taps along an axis.
int64_t map_window(const MapLayer& layer) {
    return layer.layout == BiasLayout::band ? (layer.taps + 1) / 2 : layer.taps;
}

MixerTraits common_traits() {
    MixerTraits traits;
    traits.is_centred = traits.has_masks = true;
    traits.words = "position biases alone";
    traits.no_bias = "There is no position bias in it";
    traits.no_gate = "Position biases alone have no gate";
    traits.no_keys = "Position biases alone have no keys";
    traits.no_attention = "Position biases alone have no keys, so no attention";
    return traits;
}

double map_values(const MapLayer& layer) {
    double values = 1;
    for (const int64_t side : map_shape(layer)) values *= static_cast<double>(side);
    return values;
}

MixerTraits layer_traits(const ModelConfig& model, int64_t layer) {
    const MapLayer& map = map_at(model, layer);
    MixerTraits traits = common_traits();
    traits.bias = map.layout;
    traits.heads = std::max<int64_t>(1, map.heads);
    traits.window = map_window(map);
    traits.free_rows = map.free_rows;
    traits.bias_values = map_values(map);
    return traits;
}

// What all layers have in common. Of kernels and bands of several sizes window is 0.
MixerTraits traits(const ModelConfig& model) {
    const std::vector<MapLayer>& layers = model.maps.layers;
    MixerTraits out = common_traits();
    if (layers.empty()) return out;
    out.bias = layers.front().layout;
    out.window = map_window(layers.front());
    for (const MapLayer& layer : layers) {
        if (layer.layout != out.bias) out.bias = BiasLayout::matrix;
        if (map_window(layer) != out.window) out.window = 0;
        out.heads = std::max(out.heads, layer.heads);
        out.free_rows |= layer.free_rows;
        out.bias_values += map_values(layer) / static_cast<double>(layers.size());
    }
    if (out.bias == BiasLayout::matrix) out.window = 0;
    return out;
}

void check(const ModelConfig& model) {
    if (model.maps.layers.empty())
        fail_usage("model.mixer=maps is of files that hold position biases alone");
}

// prefix: "biases.3", the name of its tensor
std::unique_ptr<Mixer> make(const ModelConfig& model, ParameterMaker& maker,
                            const std::string& prefix) {
    const MapLayer& map = map_at(model, parameter_layer(prefix));
    return std::make_unique<BiasAlone>(
        maker.constant(prefix, map_shape(map), 0, ParameterGroup::position_bias));
}

}  // namespace

MixerRoom maps_mixer() {
    return {.info = {"maps", "The position bias of a layer of any model, without the layer."},
            .traits = traits,
            .layer_traits = layer_traits,
            .check = check,
            .make = make,
            .is_hidden = true};
}

}  // namespace aft

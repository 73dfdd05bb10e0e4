// A Transformer that decodes with its keys and values kept, as LibTorch does it best: the cache is
// laid out once for the whole sequence, q, k and v are one product, weights in float32 or bfloat16.
//   x += o(softmax(q K^T / sqrt(c)) V);  x += fc2(gelu(fc1(norm2(x))))     (Vaswani et al. 2017)
// Cost of a token: the weights once, and 2 t d numbers of the cache a layer.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <map>

#include "bench/workloads/decoding.h"
#include "core/check.h"

namespace aft::bench {
namespace {

using decode::DecoderState;

struct LinearMap {  // a linear map or a norm
    at::Tensor weight, bias;
};

struct Layer {
    LinearMap norm1, qkv, o, norm2, fc1, fc2;
};

struct CacheState final : DecoderState {
    std::vector<at::Tensor> k, v;  // of each layer [B, h, T, c]
    [[nodiscard]] std::unique_ptr<DecoderState> clone() const override {
        auto copy = std::make_unique<CacheState>(*this);
        for (auto* list : {&copy->k, &copy->v})
            for (at::Tensor& one : *list) one = one.clone();
        return copy;
    }
    void select(const std::vector<int64_t>& rows) override {
        const at::Tensor index = at::tensor(rows, at::kLong);
        for (auto* list : {&k, &v})
            for (at::Tensor& one : *list) one = one.index_select(0, index);
    }
    [[nodiscard]] int64_t rows() const override { return k.front().size(0); }
};

std::unique_ptr<CacheState> empty_cache(const ModelConfig& model, at::ScalarType type,
                                        int64_t rows) {
    auto state = std::make_unique<CacheState>();
    const int64_t heads = mixer_traits(model).heads, width = model.dim / heads;
    for (int64_t layer = 0; layer < model.layers; ++layer)
        for (auto* list : {&state->k, &state->v})
            list->push_back(at::zeros({rows, heads, model.tokens(), width}, type));
    return state;
}

class CachedTransformer final : public decode::Decoder {
  public:
    CachedTransformer(const Net& net, at::ScalarType type)
        : model_(net.config()), heads_(mixer_traits(model_).heads), type_(type) {
        AFT_ASSERT(mixer_traits(model_).bias == BiasLayout::attention &&
                   model_.activation == "gelu");
        for (const Parameter& one : net.parameters())
            values_[one.name] = one.value.detach().to(type);
        for (int64_t i = 0; i < model_.layers; ++i) {
            const std::string block = fmt::format("blocks.{}.", i), mixer = block + "mixer.";
            const auto joined = [&](const char* what) {
                return at::cat({values_.at(mixer + "q" + what), values_.at(mixer + "k" + what),
                                values_.at(mixer + "v" + what)});
            };
            layers_.push_back({.norm1 = map(block + "norm1"),
                               .qkv = {joined(".weight"), joined(".bias")},
                               .o = map(mixer + "o"),
                               .norm2 = map(block + "norm2"),
                               .fc1 = map(block + "mlp.fc1"),
                               .fc2 = map(block + "mlp.fc2")});
        }
    }

    [[nodiscard]] std::unique_ptr<DecoderState> start(int64_t rows) const override {
        return empty_cache(model_, type_, rows);
    }
    std::span<const float> step(std::span<const int64_t> tokens, DecoderState& state) override {
        const c10::NoGradGuard off;
        auto& cache = dynamic_cast<CacheState&>(state);
        at::Tensor x = embedded(tokens, state.position);
        for (size_t i = 0; i < layers_.size(); ++i) {
            const Layer& layer = layers_[i];
            const at::Tensor mixed = attended(layer, normed(layer.norm1, x), cache, i);
            x = x + through(layer.o, mixed);
            const at::Tensor inside = at::gelu(through(layer.fc1, normed(layer.norm2, x)));
            x = x + through(layer.fc2, inside);
        }
        logits_ = through(map("head"), normed(map("norm"), x)).to(at::kFloat).contiguous();
        ++state.position;
        return {logits_.const_data_ptr<float>(), static_cast<size_t>(logits_.numel())};
    }
    [[nodiscard]] int64_t group() const override { return 0; }
    [[nodiscard]] std::string name() const override { return "LibTorch, key-value cache"; }

  private:
    [[nodiscard]] LinearMap map(const std::string& name) const {
        return {values_.at(name + ".weight"), values_.at(name + ".bias")};
    }
    [[nodiscard]] static at::Tensor through(const LinearMap& map, const at::Tensor& x) {
        return at::linear(x, map.weight, map.bias);
    }
    [[nodiscard]] at::Tensor normed(const LinearMap& map, const at::Tensor& x) const {
        return at::layer_norm(x, map.weight.sizes(), map.weight, map.bias, model_.norm_eps);
    }
    [[nodiscard]] at::Tensor embedded(std::span<const int64_t> tokens, int64_t position) const {
        std::vector<at::Tensor> rows;
        const at::Tensor &table = values_.at("embed.token.weight"),
                         &start = values_.at("embed.start");
        for (const int64_t token : tokens)
            rows.push_back(token < 0 ? start : table.select(0, token));
        const at::Tensor x = at::stack(rows);
        return model_.has_positions() ? x + values_.at("embed.position.weight").select(0, position)
                                      : x;
    }
    // x [B, d] -> [B, d]
    [[nodiscard]] at::Tensor attended(const Layer& layer, const at::Tensor& x, CacheState& cache,
                                      size_t i) const {
        const int64_t rows = x.size(0), t = cache.position;
        const at::Tensor qkv =
            through(layer.qkv, x).view({rows, 3, heads_, 1, model_.dim / heads_});
        cache.k[i].narrow(2, t, 1).copy_(qkv.select(1, 1));
        cache.v[i].narrow(2, t, 1).copy_(qkv.select(1, 2));
        const at::Tensor y = at::scaled_dot_product_attention(
            qkv.select(1, 0), cache.k[i].narrow(2, 0, t + 1), cache.v[i].narrow(2, 0, t + 1));
        return y.reshape({rows, model_.dim});
    }

    ModelConfig model_;
    int64_t heads_;
    at::ScalarType type_;
    std::map<std::string, at::Tensor> values_;
    std::vector<Layer> layers_;
    at::Tensor logits_;
};

}  // namespace

std::unique_ptr<decode::Decoder> make_cached_transformer(const Net& net, at::ScalarType type) {
    return std::make_unique<CachedTransformer>(net, type);
}

std::unique_ptr<DecoderState> late_cache(const Net& net, at::ScalarType type, int64_t position) {
    auto state = empty_cache(net.config(), type, 1);
    for (auto* list : {&state->k, &state->v})
        for (at::Tensor& one : *list) one.narrow(2, 0, position).normal_();
    state->position = position;
    return state;
}

}  // namespace aft::bench

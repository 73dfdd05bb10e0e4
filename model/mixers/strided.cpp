// strided: attention to the last l sources and to every l-th before them, a baseline (Child et al.
// 2019, "Generating Long Sequences with Sparse Transformers", section 4.2, with one head that looks
// at both sets: section 5.2, the merged head of Eq. 8).
//   Y[t] = sum_j softmax_j(Q[t] K[j] / sqrt(d/h)) V[j] over j <= t with t - j <= l or (t - j) mod l
//   = 0, per head
// The logits of the two sets are matrix products of the sequence laid out as T/l rows of l. Time
// O(T (l + T/l) d), memory O(T (l + T/l) h). Streaming: the cache of K and V.
#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/check.h"
#include "model/mixers/attention_layer.h"
#include "model/mixers/cost.h"
#include "model/nn/batched.h"

namespace aft {

namespace {

constexpr double kHidden = -std::numeric_limits<double>::infinity();

struct StridedSettings : MixerSettings {
    int64_t stride = 128;  // l; the paper's for CIFAR-10
    void visit(SettingRows& rows) {
        MixerSettings::visit(rows);
        rows.push_back(number_row("model.stride", &stride,
                                  "strided: a target sees this many sources before it and every "
                                  "one that lies a multiple of it back.",
                                  {1, 1e6, "tokens"}));
    }
};

class Strided final : public SparseAttention {
  public:
    Strided(const ModelConfig& config, ParameterMaker& maker, const std::string& prefix)
        : SparseAttention(config, maker, prefix),
          stride_(config.own.read<StridedSettings>().stride) {}

  protected:
    [[nodiscard]] at::Tensor attend(const Heads& in) const override {
        const int64_t B = in.v.size(0), h = in.v.size(1), T = in.v.size(2), width = in.v.size(3);
        const int64_t l = std::min(stride_, T), n = (T + l - 1) / l;
        // [B, h, n, l, width]; what fills up the last row comes after all tokens
        const auto rows = [&](const at::Tensor& x) {
            return at::constant_pad_nd(x, {0, 0, 0, n * l - T}).reshape({B, h, n, l, width});
        };
        const at::Tensor q = rows(in.q) / std::sqrt(static_cast<double>(width));
        const at::Tensor k = rows(in.k), v = rows(in.v);
        const at::Tensor near_k = with_previous(k), near_v = with_previous(v);
        const at::Tensor near = nn::batched_product(q, near_k.transpose(3, 4))
                                    .masked_fill(near_hidden(n, l, q), kHidden);
        const at::Tensor column_v = v.transpose(2, 3);  // [B, h, l, n, width]
        const at::Tensor far =
            nn::batched_product(q.transpose(2, 3), k.transpose(2, 3).transpose(3, 4))
                .masked_fill(far_hidden(n, q), kHidden)
                .transpose(2, 3);  // [B, h, n, l, n]
        const at::Tensor shares = nn::row_softmax(at::cat({near, far}, 4));
        const at::Tensor y_near = nn::batched_product(shares.narrow(4, 0, 2 * l), near_v);
        const at::Tensor y_far =
            nn::batched_product(shares.narrow(4, 2 * l, n).transpose(2, 3), column_v)
                .transpose(2, 3);
        return (y_near + y_far).reshape({B, h, n * l, width}).narrow(2, 0, T);
    }
    [[nodiscard]] BlockPlan plan(int64_t) const override { return {}; }  // attend() has its own
    [[nodiscard]] at::Tensor hidden(int64_t t, int64_t T) const override {
        const at::Tensor back = t - at::arange(T, at::kLong);
        return (back > stride_).logical_and(back.remainder(stride_) != 0);
    }

  private:
    // [B, h, n, l, c] -> [B, h, n, 2 l, c]: the row before each, then the row
    [[nodiscard]] static at::Tensor with_previous(const at::Tensor& x) {
        const at::Tensor before =
            at::constant_pad_nd(x, {0, 0, 0, 0, 1, 0}).narrow(2, 0, x.size(2));
        return at::cat({before, x}, 3);
    }
    // bool [n, l, 2 l]: t - j = b + l - i for place b of a row and source i of the two rows
    [[nodiscard]] static at::Tensor near_hidden(int64_t n, int64_t l, const at::Tensor& like) {
        const auto options = like.options().dtype(at::kLong);
        const at::Tensor i = at::arange(2 * l, options).view({1, 1, -1});
        const at::Tensor back = at::arange(l, options).view({1, -1, 1}) + l - i;
        const at::Tensor first = at::arange(n, options).view({-1, 1, 1}) == 0;
        return (back < 0).logical_or(back > l).logical_or(first.logical_and(i < l));
    }
    // bool [n, n]: of the column only what is more than one row above is not near already
    [[nodiscard]] static at::Tensor far_hidden(int64_t n, const at::Tensor& like) {
        return at::ones({n, n}, like.options().dtype(at::kBool)).triu(-1);
    }

    int64_t stride_;
};

MixerTraits traits(const ModelConfig& config) {
    MixerTraits traits = attention_traits(config);
    traits.words += fmt::format(", stride {}", config.own.read<StridedSettings>().stride);
    traits.non_causal = false;
    return traits;
}

std::unique_ptr<Mixer> make(const ModelConfig& config, ParameterMaker& maker,
                            const std::string& prefix) {
    return std::make_unique<Strided>(config, maker, prefix);
}

// attend(): two rows of l near sources and a column of T/l far ones for every target, plain tensor
// calls. The weights are kept by the softmax and once more as copies for the products with V.
MixerCost cost(const ModelConfig& config, const CostShape& shape) {
    LayerCount count(config, shape);
    const auto stride = static_cast<double>(config.own.read<StridedSettings>().stride);
    const double l = std::min(stride, count.T), rows = std::ceil(count.T / l), N = rows * l;
    const double sources = 2 * l + rows;
    count_projections(count, config, count.n, Operands::copied);
    count.product(2 * N * sources * count.n);
    count.keep(8 * N * count.n);  // q, k and v as rows, as columns, with the row before
    count.keep(2 * N * sources * count.h);
    count_key_value_cache(count, std::min(l + count.T / l, count.T));
    return {count.cost, "T sqrt(T) d", "T sqrt(T) + T d"};
}

}  // namespace

MixerRoom strided_mixer() {
    return {.info = {"strided", "Attention to near and every l-th source (Sparse Transformer)."},
            .traits = traits,
            .visit = visit_settings<StridedSettings>,
            .check = check_attention,
            .make = make,
            .cost = cost};
}

}  // namespace aft

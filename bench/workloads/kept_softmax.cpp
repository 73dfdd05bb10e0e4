// Y = softmax(Q K^T / sqrt(d/h)) V, one tensor call each (Vaswani et al. 2017, Eq. 1). Time and
// memory O(h T^2).
#include "bench/workloads/kept_softmax.h"

#include <ATen/ATen.h>

#include <cmath>
#include <limits>

#include "core/check.h"
#include "model/mixers/attention_layer.h"
#include "model/mixers/find.h"

namespace aft::bench {

namespace {

MixerTraits softmax_traits(ModelConfig config) {
    config.mixer = "softmax";
    return mixer_traits(config);
}

class KeptSoftmax final : public AttentionLayer {
  public:
    using AttentionLayer::AttentionLayer;
    [[nodiscard]] std::unique_ptr<MixerState> start(int64_t) const override {
        fail("softmax by its scores is for rows of memory: it does not decode");
    }
    [[nodiscard]] at::Tensor step(const at::Tensor&, MixerState&) const override {
        fail("softmax by its scores is for rows of memory: it does not decode");
    }

  protected:
    [[nodiscard]] at::Tensor attend(const Heads& in) const override {
        const int64_t T = in.v.size(2), width = in.v.size(3);
        at::Tensor scores =
            at::matmul(in.q, in.k.transpose(2, 3)) / std::sqrt(static_cast<double>(width));
        if (config().causal()) {
            const at::Tensor future = at::ones({T, T}, scores.options().dtype(at::kBool)).triu_(1);
            scores = scores.masked_fill(future, -std::numeric_limits<double>::infinity());
        }
        return at::matmul(scores.softmax(-1), in.v);
    }
};

std::unique_ptr<Mixer> make_kept(const ModelConfig& config, ParameterMaker& maker,
                                 const std::string& prefix) {
    return std::make_unique<KeptSoftmax>(config, maker, prefix);
}

}  // namespace

void add_kept_softmax() {
    static const bool added = [] {
        add_mixer({.info = {kKeptSoftmax, "Attention that keeps its scores."},
                   .traits =
                       [](const ModelConfig& config) {
                           MixerTraits traits = softmax_traits(config);
                           traits.decoder = DecoderKind::prefix;
                           return traits;
                       },
                   .visit = find_mixer("softmax").visit,
                   .check = check_attention,
                   .make = make_kept,
                   .is_hidden = true});
        return true;
    }();
    static_cast<void>(added);
}

}  // namespace aft::bench

// What the rooms of attention share: q, k, v of h heads, one call on them, the output projection.
// SparseAttention beside it: softmax over a set of sources that depends on positions only.
#pragma once
#include "model/mixers/projections.h"
#include "model/mixers/settings.h"

namespace aft {

// What a baseline says of itself; the room adds its own. Heads divide d, and there is no gate.
[[nodiscard]] MixerTraits attention_traits(const ModelConfig& config);
void check_attention(const ModelConfig& config);

struct Heads {
    at::Tensor q, k, v;  // [B, h, T, d/h]
};

// A row of every token so far, for rooms that read them again: amortised O(B d) a token, the
// storage doubles when it is full. A copy shares the rows, clone() does not.
class TokenRows {
  public:
    TokenRows(int64_t batch, int64_t heads, int64_t width, const at::TensorOptions& options);
    [[nodiscard]] TokenRows clone() const;
    void select(const at::Tensor& examples);
    // row: [B, h, 1, d/h], of token `position`, the one after those that are there.
    void append(const at::Tensor& row, int64_t position);
    [[nodiscard]] at::Tensor first(int64_t count) const;  // [B, h, count, d/h]

  private:
    at::Tensor rows_;  // [B, h, capacity, d/h]
};

// K and V of all tokens so far.
class KeyValueCache final : public MixerState {
  public:
    KeyValueCache(int64_t batch, int64_t heads, int64_t width, const at::TensorOptions& options);
    [[nodiscard]] std::unique_ptr<MixerState> clone() const override;
    void select(const at::Tensor& rows) override;
    void append(const at::Tensor& new_k, const at::Tensor& new_v);  // [B, h, 1, d/h]
    [[nodiscard]] at::Tensor keys() const;                          // [B, h, position, d/h]
    [[nodiscard]] at::Tensor values() const;

  private:
    TokenRows k_, v_;
};

class AttentionLayer : public Mixer {
  public:
    AttentionLayer(const ModelConfig& config, ParameterMaker& maker, const std::string& prefix);
    [[nodiscard]] at::Tensor forward(const at::Tensor& x, const MixContext& context) const override;
    [[nodiscard]] at::Tensor add_to(const at::Tensor& x, const Norm& norm,
                                    const MixContext& context, const BranchEnd& end) const override;
    // One row a head: logits Q K^T / sqrt(d/h) of the target, -inf where hidden() says so.
    [[nodiscard]] AttentionLogits attention_rows(const AttentionRequest& request) const override;

  protected:
    // -> [B, h, T, d/h]
    [[nodiscard]] virtual at::Tensor attend(const Heads& in) const = 0;
    // Of the T sources of target t, bool [T]: those that it does not see beside the future ones.
    [[nodiscard]] virtual at::Tensor hidden(int64_t t, int64_t T) const;
    [[nodiscard]] std::unique_ptr<KeyValueCache> cache(int64_t batch) const;
    // q, k, v of the tokens x [B, n, d], and the way back from [B, h, n, d/h].
    [[nodiscard]] Heads project(const at::Tensor& x) const;
    [[nodiscard]] at::Tensor join(const at::Tensor& heads) const;
    [[nodiscard]] const ModelConfig& config() const { return config_; }
    [[nodiscard]] int64_t heads() const { return heads_; }
    [[nodiscard]] at::TensorOptions options() const { return projections_.v.weight.options(); }

  private:
    [[nodiscard]] at::Tensor mix(const Projected& of, const MixContext& context) const;
    [[nodiscard]] at::Tensor split(const at::Tensor& x) const;  // [B, T, d] -> [B, h, T, d/h]
    ModelConfig config_;
    int64_t heads_;
    Projections projections_;
};

// Which sources a target sees: blocks of targets, each with the sources that its targets share.
struct BlockPlan {
    at::Tensor targets, sources;  // int64 [n, targets], [n, sources]; filled up with any place
    at::Tensor visible;           // bool [n, targets, sources]; filling sees and shows nothing
};

// Softmax attention over the sources that hidden() leaves. Streaming: the cache of K and V.
class SparseAttention : public AttentionLayer {
  public:
    using AttentionLayer::AttentionLayer;
    [[nodiscard]] std::unique_ptr<MixerState> start(int64_t batch) const override;
    [[nodiscard]] at::Tensor step(const at::Tensor& x, MixerState& state) const override;

  protected:
    [[nodiscard]] at::Tensor attend(const Heads& in) const override;
    [[nodiscard]] virtual BlockPlan plan(int64_t T) const = 0;  // each target in one block
    [[nodiscard]] at::Tensor hidden(int64_t t, int64_t T) const override = 0;
};

}  // namespace aft

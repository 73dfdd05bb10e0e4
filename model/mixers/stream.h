// Streaming state of the AFT mixers: the last `history` sources one by one, all older ones as one
// running sum with w = 0. Owned by the worker thread; exact for all of the range promised in
// model/ops/aft.h.
//
// Numerics: sources are kept as exp(K - K_first) and exp(K - K_first) V in float64, so that one
// token costs two matrix-vector products and no exponential per source. While |K - K_first| and the
// spread of a row of w stay under 300 nats every product is a normal float64, so nothing is lost;
// beyond that the token is computed from K itself with its exact maximum.
#pragma once
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>

#include "model/mixers/mixer.h"

namespace aft {

struct StreamShape {
    int64_t batch = 1;
    int64_t groups = 1;          // heads with rows of their own: w row [groups, n]
    int64_t key_channels = 1;    // of a group: d, or 1 where a head shares its key
    int64_t value_channels = 1;  // of a group: d / groups
    int64_t history = 0;         // sources with a weight of their own, the current one included
    bool growing = false;        // nothing ever leaves the history (aft-full)
    bool forget = false;         // older sources are invisible instead of w = 0
    at::Device device = at::kCPU;
};

class StreamState final : public MixerState {
  public:
    explicit StreamState(const StreamShape& shape);
    [[nodiscard]] std::unique_ptr<MixerState> clone() const override;
    void select(const at::Tensor& rows) override;

    // Takes the token at `position` and answers the weighted mean of V that it sees, [B, d] in
    // float64. k [B, groups * key_channels], v [B, d]; row [groups, n]: w of the sources
    // position-n+1 .. position, n = min(position + 1, history); undefined when history is 0.
    [[nodiscard]] at::Tensor take(const at::Tensor& k, const at::Tensor& v, const at::Tensor& row);

  private:
    // Log-domain: true sums are exp(m) n and exp(m) d.
    struct Sums {
        at::Tensor m, n, d;  // [g, B, kc], [g, B, vc], [g, B, kc]
        void add(const at::Tensor& k, const at::Tensor& v);
        [[nodiscard]] at::Tensor mean() const { return n / d; }
    };
    void append(const at::Tensor& k, const at::Tensor& v);
    void compact();
    [[nodiscard]] bool is_scaling_safe(const at::Tensor& row) const;
    [[nodiscard]] Sums recent(const at::Tensor& row) const;
    [[nodiscard]] Sums recent_exactly(const at::Tensor& row) const;

    StreamShape shape_;
    at::Tensor k_, v_, x_, xv_;  // [g, capacity, B, kc or vc], float64; slots before `begin` hold 0
    at::Tensor first_;           // [g, B, kc]: K of the first token
    int64_t end_ = 0;            // slot after the newest source
    bool keys_near_first_ = true;
    Sums older_;
};

}  // namespace aft

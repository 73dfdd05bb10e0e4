// Shares: the implicit attention of one target of one layer (Zhai et al. 2021, Eq. 3 without its
// gate), for the rooms that show or sum it. On the thread of the room that calls; O(T d) beside one
// forward pass, which is kept. Never builds T x T x d.
#pragma once
#include <ATen/core/Tensor.h>

#include <optional>
#include <string>

#include "model/probe/parts.h"

namespace aft::probe {

struct ShareRows {
    at::Tensor shares;   // [rows, T], float64, rows sum to 1, 0 where not visible
    at::Tensor logits;   // [all rows, T], float64: before the choice of rows
    at::Tensor visible;  // [T], bool
    at::Tensor gate;     // [rows], sigmoid(Q) at the target; 1 without a gate
    at::Tensor index;    // [rows], int64: which channels (or heads) these are
    const char* axis = "channel";
};

// The rows of target after target of one layer. part: prior (K = 0), content (w = 0) or both.
// Layer, channel, head and tokens are those of the request. Usage Errors name what is out of range
// or has no such part. Context and request outlive it.
class LayerShares {
  public:
    LayerShares(const ProbeContext& context, const ProbeRequest& request, std::string part);
    [[nodiscard]] ShareRows at(int64_t target) const;
    [[nodiscard]] int64_t tokens() const { return taps_.tokens(); }  // T of the input

  private:
    const ProbeContext& context_;
    const ProbeRequest& request_;
    std::string part_;
    const LayerTaps& taps_;
    std::optional<BiasTable> table_;  // none: the layer has no position bias
};
// Entropy of each row, bits, [rows]; and 1 - entropy / log2(visible sources): 1 = one source has
// all, 0 = all have the same.
[[nodiscard]] at::Tensor entropy_bits(const ShareRows& rows);
[[nodiscard]] at::Tensor sharpness(const ShareRows& rows);
// Of rows [n, T] from a row [1, T]: sum of row log2(row / from), bits, [n], where both are above 0.
[[nodiscard]] at::Tensor divergence_bits(const at::Tensor& rows, const at::Tensor& from);
// Of the request's position.
[[nodiscard]] ShareRows share_rows(const ProbeContext& context, const ProbeRequest& request,
                                   const std::string& part);
// how: mean, gate (weighted by it) give [1, T]; anything else leaves the rows as they are.
[[nodiscard]] at::Tensor reduced(const ShareRows& rows, const std::string& how);

}  // namespace aft::probe

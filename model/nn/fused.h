// The parts of a block and the loss as one autograd node each, for float32 nets on the processor:
// they save little and recompute the rest in the backward pass (per token and layer: x, what the
// mixer keeps, x in front of the MLP and 4 d of its inside; with AFT, mixers/fused_branch.h, 6 to 8
// d numbers instead of 18 d, with softmax attention 10 d). Same values as the plain layers up to
// rounding. Parameters: float32 on the processor too. Gradients of gradients are refused (Error).
// Thread of the net's owner.
#pragma once
#include <span>
#include <vector>

#include "model/nn/layers.h"

namespace aft {

// Whether the functions below take this tensor; if not, use the plain layers.
[[nodiscard]] bool can_fuse(const at::Tensor& x);

// The plain layers, which call these where they can: the sums of their gradients do not depend on
// the number of threads.
[[nodiscard]] at::Tensor apply_norm(const at::Tensor& x, const Norm& norm);     // [..., d]
[[nodiscard]] at::Tensor apply_linear(const at::Tensor& x, const Linear& map);  // [..., out]

// {x itself, maps[0](norm(x)), maps[1](norm(x)), ...}. Use the first for the residual sum: then the
// two gradients of x are added in one pass. x [B, T, d]; each map [B, T, out].
[[nodiscard]] std::vector<at::Tensor> normed_maps(const at::Tensor& x, const Norm& norm,
                                                  std::span<const Linear* const> maps,
                                                  Arithmetic arithmetic);

// x + dropout(map(y))
[[nodiscard]] at::Tensor add_map(const at::Tensor& x, const at::Tensor& y, const Linear& map,
                                 const BranchEnd& end);

// x + dropout(mlp(norm(x))), for exact GELU only
[[nodiscard]] at::Tensor add_mlp(const at::Tensor& x, const Norm& norm, const Mlp& mlp,
                                 const BranchEnd& end);

// Mean over the rows: logits [N, V], target int64 [N] -> scalar. Any type, device and target: what
// is not for our kernel goes to LibTorch's.
[[nodiscard]] at::Tensor mean_cross_entropy(const at::Tensor& logits, const at::Tensor& target,
                                            double label_smoothing);

}  // namespace aft

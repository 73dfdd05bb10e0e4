// The first half of a block with an AFT operator, for float32 nets on the processor (fused.h):
//   x + dropout(o(Y)),  Y = operator(q, k, v),  q, k, v = maps of norm(x)      (paper Eq. 2 to 6)
// as two autograd nodes that keep x and what the operator keeps (average and denominator), but not
// q, k, v and Y: the backward pass makes them again, 3 of the 36 d^2 multiply-adds that a token
// costs a block's training step, for 4 d numbers less a token and layer. Narrow windows keep no
// average and denominator either (is_averaged_again() in cost.h), up to 2 d numbers less. Same bits
// as with all kept, but for o's gradient where averages are (Y is rounded once more). Gradients of
// gradients are refused (Error).
// Thread of the net's owner.
#pragma once
#include <optional>

#include "model/nn/layers.h"
#include "model/ops/aft.h"

namespace aft {

struct BranchMaps {
    const Norm* norm = nullptr;
    const Linear *q = nullptr, *k = nullptr, *v = nullptr, *o = nullptr;  // q null: no gate
};

// in: q, k and v of norm(x) (normed_maps), and w, or u and r.
struct BranchOperator {
    ops::OperatorKind kind = ops::OperatorKind::simple;
    ops::Inputs in{};
    ops::Options options{};
};

// x: the first of normed_maps(). None where the backend that the operator would get cannot do it:
// use the nodes of fused.h.
[[nodiscard]] std::optional<at::Tensor> add_operator(const at::Tensor& x, const BranchMaps& maps,
                                                     const BranchOperator& op,
                                                     const BranchEnd& end);

}  // namespace aft

#include "model/ops/tiled/float64_gradient.h"

#include "model/ops/tiled/call.h"

namespace aft::ops::tiled {

Gradients gradient_in_double(const Call& call, const at::Tensor& P) {
    const GroupedCall x(call);
    return x.inputs_of(average_backward_in_double(x, x.grouped(P)), 1);
}

}  // namespace aft::ops::tiled

#include "model/mixers/mixer.h"

#include <ATen/ATen.h>

namespace aft {

at::Tensor Mixer::add_to(const at::Tensor& x, const Norm& norm, const MixContext& context,
                         const BranchEnd& end) const {
    const at::Tensor y = forward(norm(x), context);
    return x + (end.dropout == nullptr ? y : (*end.dropout)(y));
}

}  // namespace aft

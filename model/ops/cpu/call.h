// One call of a CPU operator as the kernels want it, its result and its gradients.
// Q, K, V, Y and their gradients are stored in float32 or in bfloat16, and read and written
// as they are; w, u, r and all that is kept between the passes are in float32. Internal to ops/cpu;
// called by autograd.cpp on the thread that owns the tensors.
#pragma once
#include <ATen/ATen.h>

#include "model/ops/backend.h"
#include "model/ops/common/groups.h"
#include "model/ops/cpu/band/band.h"
#include "model/ops/cpu/conv/conv.h"
#include "model/ops/cpu/scan/scan.h"

namespace aft::ops::cpu {

using ops::BackendResult;
using ops::Call;
using ops::Gradients;

[[nodiscard]] ConvShape conv_shape(const Call& call);
[[nodiscard]] ScanShape scan_shape(const Call& call);
[[nodiscard]] BandShape band_shape(const Call& call);

[[nodiscard]] BackendResult evaluate(const Call& call, bool keeps);
[[nodiscard]] Gradients differentiate(const Call& call, const BackendResult& kept,
                                      const at::Tensor& dy);

// T: float, or Bf16, as the tensor is stored; nullptr if it is undefined.
template <class T>
const T* pointer(const at::Tensor& x) {
    return x.defined() ? static_cast<const T*>(x.const_data_ptr()) : nullptr;
}
template <class T>
T* writable(const at::Tensor& x) {
    return x.defined() ? static_cast<T*>(x.data_ptr()) : nullptr;
}

// Not initialised; in huge pages where it is large (core/system/huge_pages.h).
[[nodiscard]] at::Tensor empty_result(const at::Tensor& x);
// R or its gradient through sigmoid(q), dtype of R.
[[nodiscard]] at::Tensor gated(const at::Tensor& R, const at::Tensor& q);
// For the exact path, which takes them in float32.
[[nodiscard]] Inputs widened(const Inputs& in);

}  // namespace aft::ops::cpu

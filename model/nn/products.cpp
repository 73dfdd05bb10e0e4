#include "model/nn/products.h"

#include <ATen/ATen.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <optional>
#include <string_view>

#include "model/ops/cpu/cpu.h"

namespace aft::nn {

namespace {

// Two cores of an EPYC (Zen 4), 4096 rows: x W^T with 256 x 256 weights 3.0 ms by MKL and 2.7 by
// oneDNN, 1024 x 256 12.4 and 11.2, dY W 17.8 and 10.6; dY^T x 13.8 and 17.9, which stays with MKL.
// 1024 x 64 x 64 takes 49 and 57 us, 788 x 192 x 192 335 and 332.
constexpr int64_t kLarge = 1 << 24;  // multiply-adds

using OptionalTensor = std::optional<at::Tensor>;
using Scalars = c10::List<std::optional<at::Scalar>>;
using LinearFunction = at::Tensor(const at::Tensor&, const at::Tensor&, const OptionalTensor&,
                                  std::string_view, Scalars, std::optional<std::string_view>);
using LinearOperator = c10::TypedOperatorHandle<LinearFunction>;

// LibTorch's operator for oneDNN's x W^T + b on plain tensors, where it is faster.
std::optional<LinearOperator> find_onednn() {
    __builtin_cpu_init();
    const std::string_view set = ops::cpu::instruction_set();
    if (__builtin_cpu_is("amd") == 0 || !set.starts_with("avx512")) return std::nullopt;
    const auto found = c10::Dispatcher::singleton().findSchema({"mkldnn::_linear_pointwise", ""});
    if (!found || !found->hasKernelForDispatchKey(c10::DispatchKey::CPU)) return std::nullopt;
    return found->typed<LinearFunction>();
}

const std::optional<LinearOperator>& onednn() {
    static const std::optional<LinearOperator> found = find_onednn();
    return found;
}

const LinearOperator* onednn_for(const at::Tensor& a, const at::Tensor& b) {
    const bool wins = a.scalar_type() == at::kFloat && a.is_contiguous() &&
                      a.size(0) * a.size(1) * b.size(1) >= kLarge;
    return onednn() && wins ? &*onednn() : nullptr;
}

at::Tensor by_onednn(const LinearOperator& linear, const at::Tensor& x, const at::Tensor& weight,
                     const std::optional<at::Tensor>& bias) {
    const at::AutoDispatchBelowADInplaceOrView no_gradients;
    return linear.call(x, weight, bias, "none", Scalars(), "");
}

}  // namespace

bool has_onednn() {
    return onednn().has_value();
}

at::Tensor product(const at::Tensor& a, const at::Tensor& b) {
    if (const LinearOperator* linear = onednn_for(a, b))
        return by_onednn(*linear, a, b.t(), std::nullopt);
    const at::Tensor y = at::mm(a, b);
    return y.scalar_type() == at::kFloat ? y : y.to(at::kFloat);
}

void add_product(at::Tensor& to, const at::Tensor& a, const at::Tensor& b) {
    if (const LinearOperator* linear = onednn_for(a, b))
        to.add_(by_onednn(*linear, a, b.t(), std::nullopt));
    else if (a.scalar_type() == at::kFloat)
        at::addmm_out(to, to, a, b);
    else
        to.add_(at::mm(a, b));
}

at::Tensor apply_map(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
    if (const LinearOperator* linear = onednn_for(x, weight.t()))
        return by_onednn(*linear, x, weight, bias);
    if (x.scalar_type() == at::kFloat) return at::addmm(bias, x, weight.t());
    return at::mm(x, weight.t()).to(at::kFloat).add_(bias);
}

}  // namespace aft::nn

#include "model/nn/products.h"

#include <ATen/ATen.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "model/nn/mkl_thread.h"
#include "model/ops/cpu/cpu.h"

// BLAS's, in every LibTorch that stands on MKL. By it a piece costs no more than its sums; at::mm
// adds 3 us.
extern "C" __attribute__((weak)) void sgemm_(const char* transa, const char* transb, const int* m,
                                             const int* n, const int* k, const float* alpha,
                                             const float* a, const int* lda, const float* b,
                                             const int* ldb, const float* beta, float* c,
                                             const int* ldc);

namespace aft::nn {

namespace {

// Two cores of an EPYC (Zen 4), 4096 rows: x W^T with 256 x 256 weights 3.0 ms by MKL and 2.7 by
// oneDNN, 1024 x 256 12.4 and 11.2, dY W 17.8 and 10.6; dY^T x 13.8 and 17.9, which stays with MKL.
// 1024 x 64 x 64 takes 49 and 57 us, 788 x 192 x 192 335 and 332.
constexpr int64_t kLarge = 1 << 24;  // multiply-adds

// Pieces of a weight's gradient. Single threads on pieces of 1024 rows are as fast as MKL's own
// threads (within 3 % at 4096 and 6144 rows and widths of 128 to 1024). As many for each of two
// threads: three pieces of 3072 rows made a step of aft-simple 15 % longer than four do.
constexpr int64_t kPieceRows = 1024, kMostPieces = 8;
constexpr int64_t kWorthAThread = 1 << 17;  // multiply-adds

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

// An operand as BLAS takes it: columns lie one behind the other unless it is transposed.
struct BlasOperand {
    at::Tensor kept;
    char transposed;
    int stride;

    // x: [rows, columns], a row-major matrix is its transpose in BLAS's order.
    explicit BlasOperand(const at::Tensor& x) : kept(x) {
        const bool by_rows = x.stride(1) == 1 && x.stride(0) >= x.size(1);
        const bool by_columns = x.stride(0) == 1 && x.stride(1) >= x.size(0);
        if (!by_rows && !by_columns) kept = x.contiguous();
        const bool flipped = by_columns && !by_rows;
        transposed = flipped ? 'T' : 'N';
        // A single row or column may have any stride.
        const int64_t least = std::max<int64_t>(1, kept.size(flipped ? 0 : 1));
        stride = static_cast<int>(std::max(least, kept.stride(flipped ? 1 : 0)));
    }
};

// y = a b + old * y on this thread alone. y: [N, M] float32, rows without gaps inside.
void multiply_alone(const at::Tensor& a, const at::Tensor& b, at::Tensor y, float old) {
    const OneMklThread alone;
    if (a.scalar_type() != at::kFloat || sgemm_ == nullptr) {
        const at::Tensor wide = at::mm(a, b);
        old == 0 ? y.copy_(wide) : y.add_(wide);
        return;
    }
    const BlasOperand left(a), right(b);
    const int n = static_cast<int>(a.size(0)), m = static_cast<int>(b.size(1)),
              k = static_cast<int>(a.size(1)), stride = static_cast<int>(y.stride(0));
    const float one = 1;
    sgemm_(&right.transposed, &left.transposed, &m, &n, &k, &one,
           right.kept.const_data_ptr<float>(), &right.stride, left.kept.const_data_ptr<float>(),
           &left.stride, &old, y.data_ptr<float>(), &stride);
}

int64_t power_of_two_below(int64_t x) {
    int64_t power = 1;
    while (2 * power <= x) power *= 2;
    return power;
}

// y = a b + old * y in pieces of y that depend on the shapes alone, a thread a piece.
void multiply(const at::Tensor& a_in, const at::Tensor& b_in, const at::Tensor& y, float old) {
    const at::Tensor a = a_in.detach(), b = b_in.detach();
    const int64_t n = y.size(0), m = y.size(1);
    if (n == 0 || m == 0) return;
    const int64_t down = std::clamp<int64_t>(power_of_two_below(n / 512), n < 64 ? 1 : 2, 64);
    const int64_t across = down >= 4 ? 1 : std::clamp<int64_t>(power_of_two_below(m / 256), 1, 4);
    const int64_t pieces = down * across;
    if (pieces == 1 || n * m * a.size(1) < kWorthAThread) return multiply_alone(a, b, y, old);
    const int64_t rows = (n + down - 1) / down, columns = (m + across - 1) / across;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < pieces; ++i) {
        const int64_t top = i / across * rows, left = i % across * columns;
        const int64_t height = std::min(rows, n - top), width = std::min(columns, m - left);
        if (height <= 0 || width <= 0) continue;
        multiply_alone(a.narrow(0, top, height), b.narrow(1, left, width),
                       y.narrow(0, top, height).narrow(1, left, width), old);
    }
}

// A binary tree of kPieces neighbours, `apart` values from each other.
template <int kPieces>
float tree_sum(const float* x, int64_t apart) {
    if constexpr (kPieces == 1)
        return *x;
    else
        return tree_sum<kPieces / 2>(x, apart) +
               tree_sum<kPieces / 2>(x + kPieces / 2 * apart, apart);
}

template <int kPieces>
void add_tree(const float* parts, float* sum, int64_t count) {
#pragma omp parallel for simd schedule(static) if (count >= kWorthAThread)
    for (int64_t i = 0; i < count; ++i) sum[i] = tree_sum<kPieces>(parts + i, count);
}

// [2, 4 or 8, ...] -> their sums, in one pass over memory.
void add_pieces(const at::Tensor& parts, at::Tensor& sum) {
    const auto* const from = parts.const_data_ptr<float>();
    auto* const to = sum.mutable_data_ptr<float>();
    switch (parts.size(0)) {
        case 2:
            return add_tree<2>(from, to, sum.numel());
        case 4:
            return add_tree<4>(from, to, sum.numel());
        default:
            return add_tree<kMostPieces>(from, to, sum.numel());
    }
}

}  // namespace

at::Tensor product(const at::Tensor& a, const at::Tensor& b) {
    if (const LinearOperator* linear = onednn_for(a, b))
        return by_onednn(*linear, a, b.t(), std::nullopt);
    at::Tensor y = at::empty({a.size(0), b.size(1)}, a.options().dtype(at::kFloat));
    multiply(a, b, y, 0);
    return y;
}

void add_product(at::Tensor& to, const at::Tensor& a, const at::Tensor& b) {
    if (const LinearOperator* linear = onednn_for(a, b))
        to.add_(by_onednn(*linear, a, b.t(), std::nullopt));
    else
        multiply(a, b, to, 1);
}

at::Tensor weight_gradient(const at::Tensor& dy, const at::Tensor& x) {
    const int64_t n = dy.size(0);
    int64_t pieces = 2;  // a power of two: threads have as many each
    while (pieces < kMostPieces && pieces * kPieceRows < n) pieces *= 2;
    const int64_t rows = (n + pieces - 1) / pieces;
    const at::Tensor parts =
        at::empty({pieces, dy.size(1), x.size(1)}, dy.options().dtype(at::kFloat));
    const at::Tensor left = dy.detach().t(), right = x.detach();
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < pieces; ++i) {
        const int64_t first = std::min(i * rows, n), count = std::min(rows, n - first);
        multiply_alone(left.narrow(1, first, count), right.narrow(0, first, count),
                       parts.select(0, i), 0);
    }
    at::Tensor sum = at::empty({dy.size(1), x.size(1)}, parts.options());
    add_pieces(parts, sum);
    return sum;
}

at::Tensor apply_map(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
    if (const LinearOperator* linear = onednn_for(x, weight.t()))
        return by_onednn(*linear, x, weight, bias);
    at::Tensor y = at::empty({x.size(0), weight.size(0)}, bias.options().requires_grad(false));
    y.copy_(bias.detach().expand_as(y));
    multiply(x, weight.t(), y, 1);
    return y;
}

}  // namespace aft::nn

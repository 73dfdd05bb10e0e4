#include "model/nn/batched.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <omp.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>

#include "core/check.h"
#include "model/nn/mkl_thread.h"
#include "model/ops/common/saved.h"

namespace aft::nn {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr const char* kBatched = "batched products and softmax";

// What LibTorch runs on this thread alone while it lives, also where a parallel_for of one piece is
// no parallel region. Gradients are not recorded.
struct Alone {
    Alone() { omp_set_num_threads(1); }
    ~Alone() { omp_set_num_threads(before); }
    Alone(const Alone&) = delete;
    Alone& operator=(const Alone&) = delete;

    const int before = omp_get_max_threads();
    const OneMklThread mkl;
    const at::AutoDispatchBelowADInplaceOrView plain;
};

constexpr int64_t kPieceRows = 256;
constexpr int64_t kWorthAThread = 1 << 15;  // multiply-adds, or values of a softmax

// [n, N, K], [n, K, M] -> [n, N, M]: a thread computes a piece of the rows of a large matrix, or
// some small ones together. Which depends on the shapes alone, as MKL's bits depend on both.
at::Tensor pieced_products(const at::Tensor& a, const at::Tensor& b) {
    const int64_t n = a.size(0), rows = a.size(1), inner = a.size(2), columns = b.size(2);
    at::Tensor out = at::empty({n, rows, columns}, a.options());
    if (inner == 0) return out.zero_();
    const int64_t pieces = std::max<int64_t>(1, rows / kPieceRows), tall = rows / pieces;
    const int64_t work = std::max<int64_t>(1, tall * inner * columns);
    const int64_t together = pieces > 1 ? 1 : std::max<int64_t>(1, kWorthAThread / work);
    const int64_t parts = (n * pieces + together - 1) / together;
    at::parallel_for(0, parts, 1, [&](int64_t begin, int64_t end) {
        const Alone alone;
        for (int64_t i = begin; i < end; ++i) {
            if (pieces == 1) {
                const int64_t first = i * together, count = std::min(together, n - first);
                at::Tensor part = out.narrow(0, first, count);
                at::bmm_out(part, a.narrow(0, first, count), b.narrow(0, first, count));
                continue;
            }
            const int64_t first = i % pieces * tall;
            const int64_t count = i % pieces + 1 == pieces ? rows - first : tall;
            at::Tensor part = out[i / pieces].narrow(0, first, count);
            at::mm_out(part, a[i / pieces].narrow(0, first, count), b[i / pieces]);
        }
    });
    return out;
}

// The leading sizes as one.
at::Tensor flat(const at::Tensor& x) {
    return x.reshape({-1, x.size(-2), x.size(-1)});
}

at::Tensor products_of(const at::Tensor& a, const at::Tensor& b) {
    std::vector<int64_t> shape = a.sizes().vec();
    shape.back() = b.size(-1);
    return pieced_products(flat(a), flat(b)).view(shape);
}

struct BatchedProduct : torch::autograd::Function<BatchedProduct> {
    static at::Tensor forward(AutogradContext* context, const at::Tensor& a, const at::Tensor& b) {
        context->save_for_backward({a, b});
        return products_of(a, b);
    }
    static variable_list backward(AutogradContext* context, const variable_list& gradients) {
        ops::refuse_second(kBatched);
        const variable_list saved = context->get_saved_variables();
        const at::Tensor &a = saved[0], &b = saved[1], &gradient = gradients[0];
        return {context->needs_input_grad(0) ? products_of(gradient, b.transpose(-1, -2))
                                             : at::Tensor(),
                context->needs_input_grad(1) ? products_of(a.transpose(-1, -2), gradient)
                                             : at::Tensor()};
    }
};

// Calls part(first, count) for pieces of rows of this width, on the threads that there are. Which
// pieces depends on the width alone.
template <class Part>
void for_row_pieces(int64_t rows, int64_t width, const Part& part) {
    const int64_t tall = std::max<int64_t>(1, kWorthAThread / std::max<int64_t>(1, width));
    at::parallel_for(0, (rows + tall - 1) / tall, 1, [&](int64_t begin, int64_t end) {
        const Alone alone;
        for (int64_t i = begin; i < end; ++i) part(i * tall, std::min(tall, rows - i * tall));
    });
}

struct RowSoftmax : torch::autograd::Function<RowSoftmax> {
    static at::Tensor forward(AutogradContext* context, const at::Tensor& x) {
        const at::Tensor in = x.reshape({-1, x.size(-1)});
        const at::Tensor out = at::empty_like(in, {}, at::MemoryFormat::Contiguous);
        for_row_pieces(in.size(0), in.size(1), [&](int64_t first, int64_t count) {
            at::Tensor part = out.narrow(0, first, count);
            at::_softmax_out(part, in.narrow(0, first, count), 1, false);
        });
        const at::Tensor shares = out.view(x.sizes());
        context->save_for_backward({shares});
        return shares;
    }
    static variable_list backward(AutogradContext* context, const variable_list& gradients) {
        ops::refuse_second(kBatched);
        const at::Tensor shares = context->get_saved_variables()[0];
        const int64_t width = shares.size(-1);
        const at::Tensor y = shares.view({-1, width}), g = gradients[0].reshape({-1, width});
        const at::Tensor out = at::empty_like(y);
        for_row_pieces(y.size(0), width, [&](int64_t first, int64_t count) {
            at::Tensor part = out.narrow(0, first, count);
            at::_softmax_backward_data_out(part, g.narrow(0, first, count),
                                           y.narrow(0, first, count), 1, y.scalar_type());
        });
        return {out.view(shares.sizes())};
    }
};

}  // namespace

at::Tensor row_softmax(const at::Tensor& x) {
    if (!x.is_cpu() || x.numel() == 0) return x.softmax(-1);
    return RowSoftmax::apply(x);
}

at::Tensor batched_product(const at::Tensor& a, const at::Tensor& b) {
    AFT_ASSERT(a.dim() == b.dim() && a.size(-1) == b.size(-2));
    if (!a.is_cpu()) return at::matmul(a, b);
    return BatchedProduct::apply(a, b);
}

}  // namespace aft::nn

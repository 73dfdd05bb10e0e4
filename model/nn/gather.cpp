// Gathering rows with a gradient that repeats bit for bit.
#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/custom_function.h>

#include "model/nn/embedding.h"

namespace aft {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Every thread owns some columns and walks all rows in order.
template <class T>
void sum_rows(const at::Tensor& gradient, const at::Tensor& index, at::Tensor& sums) {
    const int64_t n = gradient.size(0), d = gradient.size(1);
    const T* from = gradient.const_data_ptr<T>();
    const int64_t* rows = index.const_data_ptr<int64_t>();
    T* to = sums.data_ptr<T>();
    constexpr int64_t kColumns = 16;  // a cache line of float
    at::parallel_for(0, (d + kColumns - 1) / kColumns, 1, [&](int64_t begin, int64_t end) {
        const int64_t first = begin * kColumns, last = std::min(d, end * kColumns);
        for (int64_t i = 0; i < n; ++i)
            for (int64_t c = first; c < last; ++c) to[rows[i] * d + c] += from[i * d + c];
    });
}

// On a device: one-hot matrix products over fixed slices, added in order.
at::Tensor sum_by_products(const at::Tensor& gradient, const at::Tensor& index, int64_t rows) {
    constexpr int64_t kSlice = 1 << 16;
    const at::Tensor all = at::arange(rows, index.options());
    at::Tensor sums = at::zeros({rows, gradient.size(1)}, gradient.options());
    for (int64_t begin = 0; begin < index.size(0); begin += kSlice) {
        const int64_t count = std::min(kSlice, index.size(0) - begin);
        const at::Tensor chosen = all.unsqueeze(1) == index.narrow(0, begin, count);
        sums += at::matmul(chosen.to(gradient.scalar_type()), gradient.narrow(0, begin, count));
    }
    return sums;
}

struct GatherRows : torch::autograd::Function<GatherRows> {
    static at::Tensor forward(AutogradContext* context, const at::Tensor& table,
                              const at::Tensor& index) {
        context->save_for_backward({index});
        context->saved_data["rows"] = table.size(0);
        return table.index_select(0, index);
    }

    static variable_list backward(AutogradContext* context, const variable_list& gradients) {
        const at::Tensor index = context->get_saved_variables()[0];
        const int64_t rows = context->saved_data["rows"].toInt();
        const at::Tensor gradient = gradients[0].contiguous();
        if (!gradient.is_cpu()) return {sum_by_products(gradient, index, rows), at::Tensor()};
        at::Tensor sums = at::zeros({rows, gradient.size(1)}, gradient.options());
        AT_DISPATCH_FLOATING_TYPES(gradient.scalar_type(), "gather_rows",
                                   [&] { sum_rows<scalar_t>(gradient, index, sums); });
        return {sums, at::Tensor()};
    }
};

}  // namespace

at::Tensor gather_rows(const at::Tensor& table, const at::Tensor& index) {
    return GatherRows::apply(table, index.contiguous());
}

}  // namespace aft

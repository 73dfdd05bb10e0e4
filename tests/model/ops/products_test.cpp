// Products of the fused layers against float64, small and large enough for every library.
#include "model/nn/products.h"

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "model/nn/batched.h"

namespace aft::nn {
namespace {

struct ProductShape {
    int64_t n, k, m;
};
constexpr ProductShape kShapes[] = {{5, 7, 3}, {1, 64, 300}, {300, 256, 256}, {1024, 96, 200}};

double error_of(const at::Tensor& found, const at::Tensor& truth) {
    return (found.to(at::kDouble) - truth).norm().item<double>() / truth.norm().item<double>();
}

class ProductTypes : public ::testing::TestWithParam<at::ScalarType> {
  protected:
    // Of the type, exactly known in float64.
    [[nodiscard]] static at::Tensor sample(at::IntArrayRef sizes) {
        return at::randn(sizes).to(GetParam());
    }
    [[nodiscard]] static double allowed() {  // LibTorch rounds products of bfloat16 to it
        return GetParam() == at::kFloat ? 1e-6 : 3e-3;
    }
};

TEST_P(ProductTypes, are_those_of_float64) {
    at::manual_seed(5);
    for (const auto& [n, k, m] : kShapes) {
        const at::Tensor x = sample({n, k}), weight = sample({m, k}), bias = at::randn({m});
        const at::Tensor y = at::mm(x.to(at::kDouble), weight.to(at::kDouble).t());
        EXPECT_LE(error_of(product(x, weight.t()), y), allowed()) << n;
        EXPECT_LE(error_of(product(x, weight.t().contiguous()), y), allowed()) << n;
        // A matrix on the left whose columns lie side by side, as in gradients of weights.
        EXPECT_LE(error_of(product(x.t().contiguous().t(), weight.t()), y), allowed()) << n;
        const at::Tensor mapped = apply_map(x, weight, bias);
        EXPECT_EQ(mapped.scalar_type(), at::kFloat);
        EXPECT_LE(error_of(mapped, y + bias), allowed()) << n;
        const at::Tensor before = at::randn({n, m});
        at::Tensor to = before.clone();
        add_product(to, x, weight.t());
        EXPECT_LE(error_of(to, y + before), allowed()) << n;
    }
}

// Strides of a single row or column say nothing, and are as they come.
TEST(Products, a_single_row_may_have_any_stride) {
    at::manual_seed(5);
    const at::Tensor row = at::randn({9}).as_strided({1, 9}, {2, 1}), weight = at::randn({4, 9});
    const at::Tensor y = at::mm(row.to(at::kDouble), weight.to(at::kDouble).t());
    EXPECT_LE(error_of(product(row, weight.t()), y), 1e-6);
    const at::Tensor dy = at::randn({1, 4});
    EXPECT_LE(error_of(weight_gradient(dy, row), at::mm(dy.t(), row).to(at::kDouble)), 1e-6);
}

// On AMD's processors with AVX-512 the large ones above are oneDNN's: without its operator they
// would be MKL's, unnoticed.
TEST(Products, libtorch_has_the_operator_of_onednn) {
    const auto found = c10::Dispatcher::singleton().findSchema({"mkldnn::_linear_pointwise", ""});
    ASSERT_TRUE(found.has_value());
    EXPECT_TRUE(found->hasKernelForDispatchKey(c10::DispatchKey::CPU));
}

// Batches of small matrices and of a tall one that is cut into pieces, one of them transposed.
TEST(Products, batched_products_and_softmax_have_libtorchs_values_and_gradients) {
    at::manual_seed(5);
    for (const int64_t rows : {5, 700}) {
        const at::Tensor a = at::randn({2, 3, rows, 9}, at::kDouble).requires_grad_();
        const at::Tensor b = at::randn({2, 3, 11, 9}, at::kDouble).requires_grad_();
        const at::Tensor ours = row_softmax(batched_product(a, b.transpose(2, 3)));
        const at::Tensor theirs = at::matmul(a, b.transpose(2, 3)).softmax(-1);
        EXPECT_LT(error_of(ours.detach(), theirs.detach()), 1e-14);
        const at::Tensor dy = at::randn_like(ours);
        const auto found = torch::autograd::grad({ours}, {a, b}, {dy}, /*retain_graph=*/true);
        const auto truth = torch::autograd::grad({theirs}, {a, b}, {dy});
        for (size_t i = 0; i < found.size(); ++i) EXPECT_LT(error_of(found[i], truth[i]), 1e-13);
        EXPECT_ANY_THROW((void)torch::autograd::grad({ours}, {a, b}, {dy}, /*retain_graph=*/true,
                                                     /*create_graph=*/true));
    }
}

INSTANTIATE_TEST_SUITE_P(Products, ProductTypes, ::testing::Values(at::kFloat, at::kBFloat16),
                         [](const auto& type) { return c10::toString(type.param); });

}  // namespace
}  // namespace aft::nn

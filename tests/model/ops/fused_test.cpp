// The parts of a block as one node each against the plain layers in float64, which float64 nets
// use.
#include "model/nn/fused.h"

#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "model/nn/cpu/rows.h"
#include "tests/model/net/double_net.h"

namespace aft {
namespace {

struct Sizes {
    int64_t batch, tokens, dim;
};
// One entry, odd ones, whole vectors, more than one chunk of rows, more rows than one thread takes.
const std::vector<Sizes> kSizes{{1, 1, 1}, {2, 3, 5}, {1, 70, 16}, {2, 65, 33}, {3, 100, 96}};

at::Tensor random(at::IntArrayRef shape, double spread = 1) {
    return (at::randn(shape, at::kDouble) * spread).to(at::kFloat).requires_grad_(true);
}

Linear random_map(int64_t in, int64_t out) {
    return {random({out, in}, 1 / std::sqrt(static_cast<double>(in))), random({out})};
}

// The same leaves in float64.
at::Tensor wide(const at::Tensor& x) {
    return x.detach().to(at::kDouble).requires_grad_(true);
}
Linear wide(const Linear& x) {
    return {wide(x.weight), wide(x.bias)};
}
Norm wide(const Norm& x) {
    return {wide(x.weight), wide(x.bias), x.eps};
}

void expect_close(const at::Tensor& found, const at::Tensor& expected, double tolerance) {
    ASSERT_TRUE(found.defined());
    ASSERT_EQ(found.sizes(), expected.sizes());
    const double size = std::max(expected.norm().item<double>(), 1e-3);  // d = 1: truly zero
    EXPECT_LT((found.to(at::kDouble) - expected).norm().item<double>(), tolerance * size);
}

// Weighs the outputs, so that every one has its own gradient.
at::Tensor weighed(const std::vector<at::Tensor>& outputs) {
    at::manual_seed(99);
    at::Tensor sum = at::zeros({}, outputs[0].options().requires_grad(false));
    for (const at::Tensor& y : outputs)
        sum = sum + (y * at::randn(y.sizes(), at::kDouble).to(y.scalar_type())).sum();
    return sum;
}

void expect_same_gradients(const std::vector<at::Tensor>& found,
                           const std::vector<at::Tensor>& expected, double tolerance) {
    for (size_t i = 0; i < found.size(); ++i) {
        SCOPED_TRACE("gradient " + std::to_string(i));
        expect_close(found[i].grad(), expected[i].grad(), tolerance);
    }
}

TEST(Fused, MapsOfANorm) {
    for (const auto& [b, t, d] : kSizes) {
        SCOPED_TRACE(d);
        at::manual_seed(d);
        const at::Tensor x = random({b, t, d}, 3), x64 = wide(x);
        const Norm norm{random({d}), random({d}), 1e-5}, norm64 = wide(norm);
        const Linear k = random_map(d, d), v = random_map(d, 2 * d + 1);
        const Linear k64 = wide(k), v64 = wide(v);
        const std::vector<const Linear*> maps{&k, &v};
        const auto y = normed_maps(x, norm, maps, Arithmetic::fp32);
        const at::Tensor h = norm64(x64);
        const std::vector<at::Tensor> y64{x64 * 1, k64(h), v64(h)};
        for (size_t i = 0; i < y.size(); ++i) expect_close(y[i], y64[i].detach(), 2e-6);
        weighed(y).backward();
        weighed(y64).backward();
        expect_same_gradients(
            {x, norm.weight, norm.bias, k.weight, k.bias, v.weight, v.bias},
            {x64, norm64.weight, norm64.bias, k64.weight, k64.bias, v64.weight, v64.bias}, 5e-6);
    }
}

// bfloat16 has 8 digits: products of rounded operands, rounded once more.
TEST(Fused, Bfloat16ProductsAreClose) {
    at::manual_seed(5);
    const at::Tensor x = random({2, 90, 48});
    const Norm norm{random({48}), random({48}), 1e-5};
    const Linear map = random_map(48, 48);
    const Mlp mlp{random_map(48, 192), random_map(192, 48), "gelu"};
    const std::vector<at::Tensor> leaves{x,           norm.weight,    norm.bias,    map.weight,
                                         map.bias,    mlp.fc1.weight, mlp.fc1.bias, mlp.fc2.weight,
                                         mlp.fc2.bias};
    std::vector<at::Tensor> exact;
    for (const Arithmetic arithmetic : {Arithmetic::fp32, Arithmetic::bf16}) {
        const Linear* const maps[] = {&map};
        const auto y = normed_maps(x, norm, maps, arithmetic);
        const BranchEnd end{nullptr, arithmetic};
        const at::Tensor out = add_mlp(add_map(y[0], y[1], map, end), norm, mlp, end);
        for (const at::Tensor& leaf : leaves) leaf.mutable_grad().reset();
        weighed({out}).backward();
        if (exact.empty()) {
            exact.push_back(out.detach().to(at::kDouble));
            for (const at::Tensor& leaf : leaves) exact.push_back(leaf.grad().to(at::kDouble));
            continue;
        }
        EXPECT_FALSE(at::equal(out.to(at::kDouble), exact[0]));
        expect_close(out, exact[0], 1e-2);
        for (size_t i = 0; i < leaves.size(); ++i) {
            SCOPED_TRACE(i);
            expect_close(leaves[i].grad(), exact[i + 1], 2e-2);
        }
    }
}

void expect_branches(const Sizes& size, const Dropout& dropout) {
    const auto [b, t, d] = size;
    const at::Tensor x = random({b, t, d}), y = random({b, t, d + 2}), x64 = wide(x), y64 = wide(y);
    const Norm norm{random({d}), random({d}), 1e-5}, norm64 = wide(norm);
    const Linear map = random_map(d + 2, d), map64 = wide(map);
    const Mlp mlp{random_map(d, 4 * d), random_map(4 * d, d), "gelu"};
    const Mlp mlp64{wide(mlp.fc1), wide(mlp.fc2), "gelu"};
    const auto fresh = [&] {
        Dropout copy = dropout;
        if (copy.generator) copy.generator = dropout.generator->clone();
        return copy;
    };
    const Dropout drop = fresh();
    const BranchEnd end{&drop, Arithmetic::fp32};
    const at::Tensor mixed = add_map(x, y, map, end);
    const at::Tensor out = add_mlp(mixed, norm, mlp, end);
    // The masks of the float32 form: the generator draws other ones for float64.
    const Dropout again = fresh();
    const auto masked = [&](const at::Tensor& z) {
        return again.rate > 0 ? z * again.mask(x.detach()).to(at::kDouble) : z;
    };
    const at::Tensor mixed64 = x64 + masked(map64(y64));
    const at::Tensor out64 = mixed64 + masked(mlp64(norm64(mixed64)));
    expect_close(out, out64.detach(), 2e-6);
    weighed({out}).backward();
    weighed({out64}).backward();
    expect_same_gradients({x, y, map.weight, map.bias, norm.weight, norm.bias, mlp.fc1.weight,
                           mlp.fc1.bias, mlp.fc2.weight, mlp.fc2.bias},
                          {x64, y64, map64.weight, map64.bias, norm64.weight, norm64.bias,
                           mlp64.fc1.weight, mlp64.fc1.bias, mlp64.fc2.weight, mlp64.fc2.bias},
                          5e-6);
}

TEST(Fused, EndsOfBranches) {
    for (const Sizes& size : kSizes) {
        SCOPED_TRACE(size.dim);
        at::manual_seed(size.dim);
        expect_branches(size, {});
        at::Generator generator = at::globalContext().defaultGenerator(at::kCPU).clone();
        generator.set_current_seed(7);
        expect_branches(size, {.rate = 0.4, .generator = generator});
    }
}

// Over the whole range of x, with the tails: relative to the value itself where it is below zero.
TEST(Fused, GeluAndItsSlope) {
    const at::Tensor x = at::linspace(-12, 12, 24001, at::kDouble).to(at::kFloat);
    const int64_t n = x.numel();
    const at::Tensor y = at::empty_like(x), dx = at::empty_like(x), zero = at::zeros_like(x);
    const at::Tensor one = at::ones_like(x), sums = at::empty_like(x), again = at::empty_like(x);
    const auto form = [&](const at::Tensor& to) {
        return nn::cpu::Gelu{.x = x.const_data_ptr<float>(),
                             .bias = zero.const_data_ptr<float>(),
                             .rows = 1,
                             .width = n,
                             .y = to.data_ptr<float>()};
    };
    nn::cpu::gelu_rows(form(y));
    nn::cpu::gelu_gradient_rows({.forward = form(again),
                                 .dy = one.const_data_ptr<float>(),
                                 .dx = dx.data_ptr<float>(),
                                 .sums = sums.data_ptr<float>()});
    EXPECT_TRUE(at::equal(y, again));
    EXPECT_TRUE(at::equal(sums, dx));
    const at::Tensor x64 = x.to(at::kDouble).requires_grad_(true);
    const at::Tensor P = 0.5 * at::special_erfc(x64 * -std::sqrt(0.5));
    const at::Tensor y64 = x64 * P;
    y64.sum().backward();
    // exp(-x^2 / 2) loses x^2 / 2 of a unit in the last place
    const at::Tensor tolerance = 4e-7 * (1 + x64.square()) * P.detach() * (1 + x64.abs()) + 1e-37;
    EXPECT_TRUE(((y - y64).abs() <= tolerance).all().item<bool>())
        << ((y - y64).abs() / tolerance).max().item<double>();
    const at::Tensor density = at::exp(-0.5 * x64.square()) * 0.3989422804014327;
    const at::Tensor slope_tolerance =
        4e-7 * (1 + x64.square()) * (P + density * x64.abs()).detach() + 1e-37;
    EXPECT_TRUE(((dx - x64.grad()).abs() <= slope_tolerance).all().item<bool>())
        << ((dx - x64.grad()).abs() / slope_tolerance).max().item<double>();
}

TEST(Fused, CrossEntropy) {
    for (const int64_t levels : {1, 2, 5, 16, 33, 256})
        for (const double smoothing : {0.0, 0.1}) {
            SCOPED_TRACE(levels);
            at::manual_seed(levels);
            const at::Tensor logits = random({150, levels}, 8), logits64 = wide(logits);
            const at::Tensor target = at::randint(levels, {150}, at::kLong);
            const at::Tensor loss = mean_cross_entropy(logits, target, smoothing);
            const at::Tensor loss64 =
                at::cross_entropy_loss(logits64, target, {}, at::Reduction::Mean, -100, smoothing);
            EXPECT_NEAR(loss.item<double>(), loss64.item<double>(),
                        1e-6 * std::max(1.0, loss64.item<double>()));
            (loss * 3).backward();
            (loss64 * 3).backward();
            const double size = std::max(logits64.grad().norm().item<double>(), 1e-2);
            EXPECT_LT((logits.grad() - logits64.grad()).norm().item<double>(), 2e-6 * size);
        }
}

TEST(Fused, CrossEntropyOfWhatIsNotFinite) {
    const at::Tensor target = at::zeros({2}, at::kLong);
    for (const double bad : {double{NAN}, double{INFINITY}}) {
        const at::Tensor logits = at::zeros({2, 20});
        logits[1][17].fill_(bad);
        EXPECT_TRUE(std::isnan(mean_cross_entropy(logits, target, 0).item<double>()));
    }
    EXPECT_THROW((void)mean_cross_entropy(at::zeros({2, 4}), target + 4, 0), std::exception);
    const at::Tensor closed = at::zeros({2, 20});  // a value that cannot come: 1 of 19 are left
    closed.select(1, 3).fill_(-INFINITY);
    closed.set_requires_grad(true);
    const at::Tensor loss = mean_cross_entropy(closed, target, 0);
    EXPECT_NEAR(loss.item<double>(), std::log(19.0), 1e-6);
    loss.backward();
    EXPECT_EQ(closed.grad().select(1, 3).abs().max().item<double>(), 0);
    EXPECT_NEAR(closed.grad()[0][5].item<double>(), 1 / 38.0, 1e-7);
}

// Every bit is the same for one and two threads.
TEST(Fused, WhatTheyCannotDoIsRefused) {
    const at::Tensor logits = at::randn({4, 5}).requires_grad_();
    EXPECT_ANY_THROW((void)mean_cross_entropy(logits, at::zeros({3}, at::kLong), 0));
    const at::Tensor loss = mean_cross_entropy(logits, at::zeros({4}, at::kLong), 0);
    EXPECT_ANY_THROW((void)torch::autograd::grad({loss}, {logits}, {}, /*retain_graph=*/true,
                                                 /*create_graph=*/true));
}

TEST(Fused, ThreadsChangeNothing) {
    const int before = at::get_num_threads();
    at::manual_seed(3);
    const at::Tensor x = at::randn({700, 48}), dy = at::randn({700, 48}), g = at::randn({48});
    std::vector<at::Tensor> kept;
    for (const int threads : {1, 2}) {
        at::set_num_threads(threads);
        const at::Tensor stats = at::empty({700, 2}), y = at::empty_like(x), dx = dy.clone();
        const at::Tensor sums = at::empty({2, 48}), slope = at::empty_like(x),
                         bias = at::empty({48});
        nn::cpu::norm_rows({x.const_data_ptr<float>(), 700, 48, g.const_data_ptr<float>(),
                            g.const_data_ptr<float>(), 1e-5F, stats.data_ptr<float>(), false,
                            y.data_ptr<float>()});
        nn::cpu::norm_gradient_rows({x.const_data_ptr<float>(), stats.const_data_ptr<float>(),
                                     g.const_data_ptr<float>(), dx.const_data_ptr<float>(),
                                     dy.const_data_ptr<float>(), 700, 48, dx.data_ptr<float>(),
                                     sums.data_ptr<float>()});
        nn::cpu::gelu_gradient_rows(
            {{x.const_data_ptr<float>(), g.const_data_ptr<float>(), 700, 48, y.data_ptr<float>()},
             dy.const_data_ptr<float>(),
             slope.data_ptr<float>(),
             bias.data_ptr<float>()});
        const std::vector<at::Tensor> all{stats, y, dx, sums, slope, bias};
        for (size_t i = 0; i < all.size(); ++i) {
            if (threads == 1)
                kept.push_back(all[i]);
            else
                EXPECT_TRUE(at::equal(kept[i], all[i])) << i;
        }
    }
    at::set_num_threads(before);
}

// A whole net with our nodes against the same net in float64 with LibTorch's.
TEST(Fused, NetsAgreeWithFloat64) {
    for (const NetCase& c : small_cases()) {
        SCOPED_TRACE(c.label);
        Net net(c.config, 3);
        shake(net, 0.1, 5);
        const Net net64 = double_net(net);
        const at::Tensor input = decided_input(net, 2, 7);
        const bool floats = c.config.task == "classify";
        const auto loss = [&](const at::Tensor& logits) {
            return floats ? logits.square().mean()
                          : mean_cross_entropy(logits.flatten(0, 1), input.flatten(), 0);
        };
        const at::Tensor a = loss(net.forward(input, {}));
        const at::Tensor b = loss(net64.forward(floats ? input.to(at::kDouble) : input,
                                                {.backend = ops::OperatorBackend::reference}));
        // The loss, an average over tokens, is off by no more than the logits.
        EXPECT_NEAR(a.item<double>(), b.item<double>(), kLogitError * std::abs(b.item<double>()));
        a.backward();
        b.backward();
        double wrong = 0, all = 0;
        for (size_t i = 0; i < net.parameters().size(); ++i) {
            const at::Tensor expected = net64.parameters()[i].value.grad();
            if (net.parameters()[i].group == ParameterGroup::fixed) continue;
            wrong += (net.parameters()[i].value.grad() - expected).square().sum().item<double>();
            all += expected.square().sum().item<double>();
        }
        // The way back adds up as many terms again.
        EXPECT_LT(std::sqrt(wrong), 2 * kLogitError * std::sqrt(all));
    }
}

}  // namespace
}  // namespace aft

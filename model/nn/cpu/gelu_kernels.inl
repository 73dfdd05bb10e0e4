// GELU (Hendrycks and Gimpel 2016, the exact form) of x + bias, its gradient, the gate, sums of
// columns.
//   y = x P(x),  dy/dx = P(x) + x p(x);   P(x) = erfc(-x / sqrt 2) / 2,  p(x) = exp(-x^2 / 2) /
//   sqrt(2 pi)
// Cost: about 35 instructions a vector, one exponential and one division for both P and p; 8 bytes
// an entry forward, 16 backward, where y is computed again instead of being kept.
// Numerics: erfc(z) = exp(-z^2) t Q(t), t = 1 / (1 + 0.4 z), z >= 0, with Q of degree 10 within
// 9e-9 (fitted by Chebyshev interpolation); the side x > 0 as 1 - P(-x), so that no tail cancels.
// [3072, 1024] on two cores with AVX-512: 0.94 ms forward (LibTorch 1.48, without the bias), 2.35
// backward with y and the bias' sums (LibTorch 4.86, without y).
#pragma once
#include "model/nn/cpu/norm_kernels.inl"
#include "model/ops/cpu/simd/exponential.inl"

namespace aft::nn::cpu::AFT_CPU {

struct Normal {
    V below, density;  // P(x), p(x)
};

AFT_INLINE Normal normal(V x) {
    constexpr float kQ[] = {0.143841069283F,  -0.243041731836F, 0.146803245672F, -0.053793166327F,
                            0.0871206416427F, 0.118095123014F,  0.171890571917F, 0.207600720397F,
                            0.225676316927F,  0.225675831456F};
    const V size = max(x, set1(0) - x);
    const V t = set1(1) / fma(size, set1(0.28284271247F), set1(1));  // 0.4 / sqrt 2
    V q = set1(-0.0298686284892F);
    for (const float coefficient : kQ) q = fma(q, t, set1(coefficient));
    const V bell = exp2(to_log2(set1(-0.5F) * x * x, set1(0)));
    const V tail = set1(0.5F) * bell * t * q;
    return {select_ge(x, set1(0), set1(1) - tail, tail), bell * set1(0.39894228040F)};
}

static void gelu(const Gelu& in) {
    for (int64_t row = 0; row < in.rows; ++row)
        each_vector(in.width, [&](int64_t c, int64_t n) {
            const int64_t at = row * in.width + c;
            const V x = load_partial(in.x + at, n, 0) + load_partial(in.bias + c, n, 0);
            store_partial(in.y + at, x * normal(x).below, n);
        });
}

static void gelu_gradient(const GeluGradient& in) {
    const Gelu& f = in.forward;
    for (int64_t c = 0; c < f.width; ++c) in.sums[c] = 0;
    for (int64_t row = 0; row < f.rows; ++row)
        each_vector(f.width, [&](int64_t c, int64_t n) {
            const int64_t at = row * f.width + c;
            const V x = load_partial(f.x + at, n, 0) + load_partial(f.bias + c, n, 0);
            const Normal here = normal(x);
            const V dx = load_partial(in.dy + at, n, 0) * fma(x, here.density, here.below);
            store_partial(f.y + at, x * here.below, n);
            store_partial(in.dx + at, dx, n);
            store_partial(in.sums + c, load_partial(in.sums + c, n, 0) + dx, n);
        });
}

static void gate(const Gate& in) {
    for (int64_t row = 0; row < in.rows; ++row)
        each_vector(in.width, [&](int64_t c, int64_t n) {
            const int64_t at = row * in.width + c;
            store_partial(in.y + at,
                          sigmoid(load_partial(in.q + at, n, 0)) * load_partial(in.x + at, n, 0),
                          n);
        });
}

static void add(const AddRows& in) {
    for (int64_t row = 0; row < in.rows; ++row)
        each_vector(in.width, [&](int64_t c, int64_t n) {
            const int64_t at = row * in.width + c;
            store_partial(in.y + at,
                          load_partial(in.x + at, n, 0) + load_partial(in.bias + c, n, 0), n);
        });
}

static void column_sums(const AddRows& in) {
    for (int64_t c = 0; c < in.width; ++c) in.sums[c] = 0;
    for (int64_t row = 0; row < in.rows; ++row)
        each_vector(in.width, [&](int64_t c, int64_t n) {
            const V x = load_partial(in.x + row * in.width + c, n, 0);
            store_partial(in.sums + c, load_partial(in.sums + c, n, 0) + x, n);
        });
}

}  // namespace aft::nn::cpu::AFT_CPU

// Operands in bfloat16, sums in float32, for processors with AVX512-BF16: E, X = exp(K) and X V of
// the banded operators are rounded to 8 bits, an instruction takes two sources. Compiled with its
// flags; nothing else may be.
//
//   N_t = sum_j E_tj (X_j V_j), D_t = sum_j E_tj X_j           pairs of sources side by side
//
// (paper Eq. 2; an instruction makes two multiply-adds a lane.) Rounding errors are about 2^-9 of
// each term. E is the same in N and D, so its error only shifts weight; X V is computed from the
// rounded X, so that R stays a weighted average. References are integer powers of two and bfloat16
// has the range of float32: all that scaling.h says about references holds. Running sums stay in
// float32. B = 4, T = 3072, d = 256, two cores of an AMD EPYC: window 256 takes 13.3 ms (float32
// 17.9; limits by products 7.2 and 15.6). Intel's processors gain nothing (bf16_kernels()).
#define AFT_CPU_AVX512_BF16
#pragma GCC diagnostic ignored "-Wunused-function"
#include "model/ops/cpu/band/bf16_kernels.h"
#include "model/ops/cpu/band/bf16_pairs.inl"

namespace aft::ops::cpu::avx512_bf16 {

template <class T>
static void pack_bf16(const PackKeys<T>& p) {
    pack_pairs<kStep>(p, p.phase);
}

static void sum_after_bf16(const SumAfter& s) {
    sum_pairs_after(s, kStep);
}

AFT_INLINE void add_pair(V (&sums)[kRows][kPanelVectors], const uint16_t* a, int64_t a_row,
                         const uint16_t* b) {
    __m512bh row[kPanelVectors];
#pragma GCC unroll 4
    for (int i = 0; i < kPanelVectors; ++i)
        row[i] = reinterpret_cast<__m512bh>(_mm512_loadu_si512(b + 2 * i * kLanes));
#pragma GCC unroll 6
    for (int r = 0; r < kRows; ++r) {
        int weights = 0;
        __builtin_memcpy(&weights, a + r * a_row, sizeof weights);
        const auto x = reinterpret_cast<__m512bh>(_mm512_set1_epi32(weights));
#pragma GCC unroll 4
        for (int i = 0; i < kPanelVectors; ++i)
            sums[r][i] = _mm512_dpbf16_ps(sums[r][i], x, row[i]);
    }
}

static void multiply_bf16(const MultiplyBf16& m) {
    V sums[kRows][kPanelVectors];
    clear_sums(sums);
    const uint16_t *a = m.a, *b = m.b;
    const char* line = m.extras.prefetch;
    const int64_t a_row = m.a_row, prefetches = m.extras.prefetches,
                  prefetch_stride = m.extras.prefetch_stride;
    for (int64_t step = prefetches; step > 0;
         --step, a += 2, b += 2 * kPanel, line += prefetch_stride) {
        prefetch_block(line);
        add_pair(sums, a, a_row, b);
    }
    for (int64_t step = m.steps - prefetches; step > 0; --step, a += 2, b += 2 * kPanel)
        add_pair(sums, a, a_row, b);
    finish_sums(sums, m);
}

static void round_bf16(const float* from, int64_t n, uint16_t* to) {
    for (int64_t i = 0; i < n; i += kLanes)
        _mm256_storeu_si256(
            reinterpret_cast<__m256i*>(to + i),
            reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(load_partial(from + i, n - i, 0))));
}

}  // namespace aft::ops::cpu::avx512_bf16

namespace aft::ops::cpu {

const Bf16Kernels& avx512_bf16_kernels() {
    static constexpr Bf16Kernels table{.name = "avx512_bf16",
                                       .pack_from_float = avx512_bf16::pack_bf16<float>,
                                       .pack_from_bf16 = avx512_bf16::pack_bf16<Bf16>,
                                       .sum_after = avx512_bf16::sum_after_bf16,
                                       .multiply = avx512_bf16::multiply_bf16,
                                       .round = avx512_bf16::round_bf16};
    return table;
}

}  // namespace aft::ops::cpu

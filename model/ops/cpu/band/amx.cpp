// The products of the banded operators by AMX-BF16 tiles; everything else as in avx512_bf16.cpp.
// Compiled with its flags; nothing else may be.
//
//   sum[32, 64] += E[32, 32] [X V | X][32, 64]       a step: eight instructions of 16 x 16 x 32
//
// (numerator and denominator of paper Eq. 2; 131,072 FLOP a step.) Numerics as in
// avx512_bf16.cpp.
//
// The panel is in the VNNI layout that the instruction wants of its right operand. Four tiles hold
// sums, two weights and two sources: a step's four loads feed four products. B = 4, T = 3072, d =
// 256, window 256, all in bfloat16, two cores of an Intel Xeon with AMX: a call takes 5.0 ms, and
// 17.3 by avx512_bf16.cpp. Each product configures its thread's tiles and releases them: in use
// they add 8 KB to a context switch.
#define AFT_CPU_AMX
#pragma GCC diagnostic ignored "-Wunused-function"
#include "model/ops/cpu/band/bf16_kernels.h"
#include "model/ops/cpu/band/bf16_pairs.inl"

namespace aft::ops::cpu::amx {

static_assert(kTile % kMatrixRows == 0 && kTile % kMatrixStep == 0 && kPanel == 64);

template <class T>
static void pack_matrix(const PackKeys<T>& p) {
    pack_pairs<kMatrixStep>(p, 0);
}

static void sum_after_matrix(const SumAfter& s) {
    sum_pairs_after(s, kMatrixStep);
}

static void round_row(const float* from, int64_t steps, uint16_t* to) {
    for (; steps > 0; --steps, from += kMatrixStep, to += kMatrixWeights)
        _mm512_storeu_si512(
            to, reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(load(from + kLanes), load(from))));
}

// All eight tiles: 16 rows of 64 bytes.
struct alignas(64) TileConfig {
    uint8_t palette = 1, start = 0, reserved[14] = {};
    uint16_t bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

AFT_INLINE void begin_matrix(const MultiplyMatrix& m) {
    for (int i = 0; i < kPanelVectors; ++i) {
        V first = load(m.first + i * kLanes);
        if (m.later != nullptr) first = first + load(m.later + i * kLanes);
        for (int64_t r = 0; r < kMatrixRows; ++r)
            store(m.sum + r * kPanel + i * kLanes, set1(m.weight[r]) * first);
    }
}

// Bf16 of the columns: N or D of the channels.
AFT_INLINE void multiply_columns(const uint16_t* a, const uint16_t* b, int64_t steps, float* sum) {
    constexpr int64_t sum_bytes = kPanel * 4, a_bytes = kMatrixStep * 2, b_bytes = kPanel * 4;
    float* const below_sum = sum + 16 * kPanel;
    _tile_loadd(0, sum, sum_bytes);
    _tile_loadd(1, sum + kLanes, sum_bytes);
    _tile_loadd(2, below_sum, sum_bytes);
    _tile_loadd(3, below_sum + kLanes, sum_bytes);
    for (; steps > 0; --steps, a += kMatrixWeights, b += kMatrixStep * kPanel) {
        _tile_loadd(4, a, a_bytes);
        _tile_loadd(6, b, b_bytes);
        _tile_dpbf16ps(0, 4, 6);
        _tile_loadd(7, b + 2 * kLanes, b_bytes);
        _tile_dpbf16ps(1, 4, 7);
        _tile_loadd(5, a + kMatrixWeights / 2, a_bytes);
        _tile_dpbf16ps(2, 5, 6);
        _tile_dpbf16ps(3, 5, 7);
    }
    _tile_stored(0, sum, sum_bytes);
    _tile_stored(1, sum + kLanes, sum_bytes);
    _tile_stored(2, below_sum, sum_bytes);
    _tile_stored(3, below_sum + kLanes, sum_bytes);
}

static void multiply_matrix(const MultiplyMatrix& m) {
    static constexpr TileConfig shapes;
    if (m.first != nullptr) begin_matrix(m);
    asm volatile("" ::: "memory");  // tile loads do not tell the compiler what they read
    _tile_loadconfig(&shapes);
    multiply_columns(m.a, m.b, m.steps, m.sum);
    multiply_columns(m.a, m.b + 2 * kChannels, m.steps, m.sum + kChannels);
    _tile_release();
}

}  // namespace aft::ops::cpu::amx

namespace aft::ops::cpu {

const Bf16Kernels& amx_kernels() {
    static constexpr Bf16Kernels table{.name = "amx",
                                       .step = kMatrixStep,
                                       .pack_from_float = amx::pack_matrix<float>,
                                       .pack_from_bf16 = amx::pack_matrix<Bf16>,
                                       .sum_after = amx::sum_after_matrix,
                                       .multiply_matrix = amx::multiply_matrix,
                                       .round_row = amx::round_row};
    return table;
}

}  // namespace aft::ops::cpu

// int8 products for processors with AVX-512 VNNI: four inputs of 16 outputs in one instruction.
//   y[r, o] = bias[o] + step_r scale[o] (sum_i w[o, i] code[r, i] - zero_r sum_i w[o, i])
// A row of x is coded in bytes between its least and its largest value (and 0): the sums are exact
// integers, so that a row's result does not depend on the rows beside it. Cost: the bytes of the
// weights for a few rows, one product of bytes for each weight and row for many. Measured, 256 to
// 1024 on one core: 1 row 103, 16 rows 200 products a nanosecond; the processor's most is 235.
// Compiled with its flags; nothing else may be.
#define AFT_CPU_AVX512
#include "model/ops/cpu/decode_each.inl"
#include "model/ops/cpu/decode_kernels.h"

namespace aft::ops::cpu {
namespace avx512 {

constexpr int kWide = 4, kRowTile = 4;
constexpr int64_t kPanel = kWide * kLanes;

// Codes of all rows, each padded to 4 bytes; behind them the steps, then the zeros.
struct Codes {
    uint8_t* bytes;
    float* steps;
    int32_t* zeros;
    int64_t stride;
};
AFT_INLINE Codes codes_of(const DecodeProduct& p) {
    const int64_t stride = (p.matrix.inputs + 3) / 4 * 4;
    auto* const steps = reinterpret_cast<float*>(p.codes + p.rows * stride);
    return {p.codes, steps, reinterpret_cast<int32_t*>(steps + p.rows), stride};
}

AFT_INLINE void put_codes(uint8_t* to, __m512i code, int64_t count) {
    const __m128i bytes = _mm512_cvtusepi32_epi8(_mm512_max_epi32(code, _mm512_setzero_si512()));
    if (count >= kLanes) return _mm_storeu_si128(reinterpret_cast<__m128i*>(to), bytes);
    _mm_mask_storeu_epi8(to, static_cast<__mmask16>((1 << count) - 1), bytes);
}

static void encode(const float* x, int64_t inputs, const Codes& codes, int64_t row) {
    V top = all(0), low = all(0), bad = all(0);  // low: of the negated
    for (int64_t at = 0; at < inputs; at += kLanes) {
        const V v = load_some(x + at, inputs - at, 0);
        top = above(top, v);
        low = above(low, all(0) - v);
        bad = fma(v, all(0), bad);
    }
    const float most = _mm512_reduce_max_ps(top), least = -_mm512_reduce_max_ps(low);
    const float step = (most - least) / 255, inverse = step > 0 ? 1 / step : 0;
    const int32_t zero = _mm_cvtss_si32(_mm_set_ss(-least * inverse));
    for (int64_t at = 0; at < codes.stride; at += kLanes) {
        const V v = load_some(x + at, inputs - at, 0) * all(inverse);
        put_codes(codes.bytes + row * codes.stride + at,
                  _mm512_add_epi32(_mm512_cvtps_epi32(v), _mm512_set1_epi32(zero)),
                  codes.stride - at);
    }
    codes.steps[row] = step + _mm512_reduce_add_ps(bad);  // NaN where x is not finite
    codes.zeros[row] = zero;
}

template <int R>
AFT_INLINE void panel_rows(const DecodeProduct& p, const Codes& codes, int64_t panel, int64_t row) {
    const DecodeMatrix& m = p.matrix;
    const int64_t steps = codes.stride / 4;
    const uint32_t* w = static_cast<const uint32_t*>(m.weights) + panel * steps * kPanel;
    const uint8_t* x = codes.bytes + row * codes.stride;
    __m512i sum[R][kWide];
    each<R * kWide>([&](auto n) AFT_LAMBDA { sum[n / kWide][n % kWide] = _mm512_setzero_si512(); });
    for (int64_t s = 0; s < steps; ++s, w += kPanel) {
        __m512i a[kWide];
        each<kWide>([&](auto i) AFT_LAMBDA { a[i] = _mm512_loadu_si512(w + i * kLanes); });
        each<R>([&](auto r) AFT_LAMBDA {
            const __m512i four =
                _mm512_broadcastd_epi32(_mm_loadu_si32(x + r * codes.stride + 4 * s));
            each<kWide>([&](auto i)
                            AFT_LAMBDA { sum[r][i] = _mm512_dpbusd_epi32(sum[r][i], four, a[i]); });
        });
    }
    each<R * kWide>([&](auto n) AFT_LAMBDA {
        constexpr int r = n / kWide, i = n % kWide;
        const int64_t at = panel * kPanel + i * kLanes;
        const __m512i off = _mm512_mullo_epi32(_mm512_loadu_si512(m.sums + at),
                                               _mm512_set1_epi32(codes.zeros[row + r]));
        const V total = _mm512_cvtepi32_ps(_mm512_sub_epi32(sum[r][i], off));
        float* y = p.y + (row + r) * p.y_stride + at;
        const V out = fma(total, load(m.scale + at) * all(codes.steps[row + r]), load(m.bias + at));
        store(y, p.add ? load(y) + out : out);
    });
}

static void product_int8(const DecodeProduct& p) {
    const Codes codes = codes_of(p);
    for (int64_t row = 0; row < p.rows && !p.coded; ++row)
        encode(p.x + row * p.x_stride, p.matrix.inputs, codes, row);
    for (int64_t panel = p.begin; panel < p.end; ++panel)
        for_row_tiles<kRowTile>(p.rows, [&](auto count, int64_t row, int64_t, int64_t) AFT_LAMBDA {
            panel_rows<count>(p, codes, panel, row);
        });
}

}  // namespace avx512

void use_vnni(DecodeKernels& table) {
    table.name = "avx512 vnni";
    table.product[static_cast<int>(WeightFormat::int8)] = avx512::product_int8;
}

}  // namespace aft::ops::cpu

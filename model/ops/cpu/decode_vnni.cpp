// int8 products for processors with AVX-512 VNNI: four inputs of 16 outputs in one instruction.
//   y[r, o] = bias[o] + scale_x scale[o] sum_i step[o, i] code[r, i]
// A row of x is coded in 16 bits, code = 256 high + low - 32768 with both halves unsigned bytes, so
// that only the weights lose accuracy; both sums are exact integers. Cost: the bytes of the
// weights, 2 products per 64 of them. Compiled with its flags; nothing else may be.
#define AFT_CPU_AVX512
#include "model/ops/cpu/decode_each.inl"
#include "model/ops/cpu/decode_kernels.h"

namespace aft::ops::cpu {
namespace avx512 {

constexpr int kWide = 4;
constexpr int64_t kPanel = kWide * kLanes;

// The bytes of a row: [codes of high, codes of low], each padded to 4; behind all rows the scales.
static int64_t padded(int64_t inputs) {
    return (inputs + 3) / 4 * 4;
}

static float encode(const float* x, int64_t inputs, uint8_t* codes) {
    V top = all(0), bad = all(0);
    for (int64_t at = 0; at < inputs; at += kLanes) {
        const V v = load_some(x + at, inputs - at, 0);
        top = above(top, above(v, all(0) - v));
        bad = fma(v, all(0), bad);
    }
    const float most = largest(top), step = most / 32767;
    const V inverse = all(most > 0 ? 32767 / most : 0);
    const int64_t low = padded(inputs);
    for (int64_t at = 0; at < low; at += kLanes) {
        const V v = load_some(x + at, inputs - at, 0) * inverse;
        const __m512i code = _mm512_add_epi32(_mm512_cvtps_epi32(v), _mm512_set1_epi32(32768));
        const auto mask =
            static_cast<__mmask16>(low - at >= kLanes ? 0xffff : (1 << (low - at)) - 1);
        _mm512_mask_cvtepi32_storeu_epi8(codes + at, mask, _mm512_srli_epi32(code, 8));
        _mm512_mask_cvtepi32_storeu_epi8(codes + low + at, mask, code);
    }
    return step + sum(bad);  // NaN where x is not finite
}

AFT_INLINE __m512i four_codes(const uint8_t* p) {
    return _mm512_broadcastd_epi32(_mm_loadu_si32(p));
}

template <int R>
AFT_INLINE void panel_rows(const DecodeProduct& p, int64_t panel, int64_t row) {
    const DecodeMatrix& m = p.matrix;
    const int64_t low = padded(m.inputs), steps = low / 4, bytes = 2 * low;
    const uint32_t* w = static_cast<const uint32_t*>(m.weights) + panel * steps * kPanel;
    const uint8_t* codes = p.codes + row * bytes;
    const auto* scales = reinterpret_cast<const float*>(p.codes + p.rows * bytes);
    __m512i high[R][kWide], rest[R][kWide];
    each<R * kWide>([&](auto n) AFT_LAMBDA {
        high[n / kWide][n % kWide] = rest[n / kWide][n % kWide] = _mm512_setzero_si512();
    });
    for (int64_t s = 0; s < steps; ++s) {
        __m512i a[kWide];
        each<kWide>([&](auto i)
                        AFT_LAMBDA { a[i] = _mm512_loadu_si512(w + s * kPanel + i * kLanes); });
        each<R>([&](auto r) AFT_LAMBDA {
            const __m512i xh = four_codes(codes + r * bytes + 4 * s);
            const __m512i xl = four_codes(codes + r * bytes + low + 4 * s);
            each<kWide>([&](auto i) AFT_LAMBDA {
                high[r][i] = _mm512_dpbusd_epi32(high[r][i], xh, a[i]);
                rest[r][i] = _mm512_dpbusd_epi32(rest[r][i], xl, a[i]);
            });
        });
    }
    each<R * kWide>([&](auto n) AFT_LAMBDA {
        constexpr int r = n / kWide, i = n % kWide;
        const int64_t at = panel * kPanel + i * kLanes;
        const __m512i sums = _mm512_slli_epi32(_mm512_loadu_si512(m.sums + at), 7);
        const V upper = _mm512_cvtepi32_ps(_mm512_sub_epi32(high[r][i], sums));
        const V total = fma(upper, all(256), _mm512_cvtepi32_ps(rest[r][i]));
        float* y = p.y + (row + r) * p.y_stride + at;
        const V out = fma(total, load(m.scale + at) * all(scales[row + r]), load(m.bias + at));
        store(y, p.add ? load(y) + out : out);
    });
}

static void product_int8(const DecodeProduct& p) {
    constexpr int kRowTile = 3;
    const int64_t bytes = 2 * padded(p.matrix.inputs);
    auto* scales = reinterpret_cast<float*>(p.codes + p.rows * bytes);
    for (int64_t row = 0; row < p.rows; ++row)
        scales[row] = encode(p.x + row * p.x_stride, p.matrix.inputs, p.codes + row * bytes);
    for (int64_t panel = p.begin; panel < p.end; ++panel) {
        int64_t row = 0;
        for (; row + kRowTile <= p.rows; row += kRowTile) panel_rows<kRowTile>(p, panel, row);
        for (; row + 2 <= p.rows; row += 2) panel_rows<2>(p, panel, row);
        for (; row < p.rows; ++row) panel_rows<1>(p, panel, row);
    }
}

}  // namespace avx512

const DecodeKernels& decode_avx512_vnni() {
    static const DecodeKernels table = [] {
        DecodeKernels all = decode_avx512();
        all.name = "avx512 vnni";
        all.product[static_cast<int>(WeightFormat::int8)] = avx512::product_int8;
        return all;
    }();
    return table;
}

}  // namespace aft::ops::cpu

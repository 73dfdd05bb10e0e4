// bf16 products for processors with AVX512_BF16: two inputs of 16 outputs in one instruction.
//   y[r, o] = bias[o] + sum_i w[o, i] bf16(x[r, i]),  sums of float32
// Every output is one dependent sum over the pairs of inputs in order, whatever the number of rows.
// Cost: the bytes of the weights for a few rows, half a multiplication each for many. Measured, 256
// to 1024 on one core: 1 row 47, 16 rows 110 products a nanosecond; the processor's most is 117.
// Compiled with its flags; nothing else may be.
#define AFT_CPU_AVX512
#include "model/ops/cpu/decode/codes.inl"

namespace aft::ops::cpu {
namespace avx512 {

constexpr int kWide = 4, kRowTile = 6;
constexpr int64_t kPanel = kWide * kLanes;

AFT_INLINE __m512bh pairs(const uint32_t* p) {
    return (__m512bh)_mm512_loadu_si512(p);
}
AFT_INLINE __m512bh one_pair(const uint32_t* p) {
    return (__m512bh)_mm512_set1_epi32(static_cast<int>(*p));
}

template <int R, int lines>
AFT_INLINE void panel_rows(const DecodeProduct& p, const Pairs& x, const Spot& spot) {
    const auto [panel, row, from] = spot;
    const uint32_t* prefetch_from = from;
    const DecodeMatrix& m = p.matrix;
    const int64_t steps = (m.inputs + 1) / 2;
    const uint32_t* w = static_cast<const uint32_t*>(m.weights) + panel * steps * kPanel;
    const uint32_t* two = x.words + row * x.stride;
    V sum[R][kWide];
    each<R * kWide>([&](auto n) AFT_LAMBDA { sum[n / kWide][n % kWide] = set1(0); });
    for (int64_t s = 0; s < steps; ++s, w += kPanel, prefetch_from += 16 * lines) {
        prefetch<lines>(prefetch_from);
        __m512bh a[kWide];
        each<kWide>([&](auto i) AFT_LAMBDA { a[i] = pairs(w + i * kLanes); });
        each<R>([&](auto r) AFT_LAMBDA {
            const __m512bh xr = one_pair(two + r * x.stride + s);
            each<kWide>([&](auto i)
                            AFT_LAMBDA { sum[r][i] = _mm512_dpbf16_ps(sum[r][i], a[i], xr); });
        });
    }
    each<R * kWide>([&](auto n) AFT_LAMBDA {
        constexpr int r = n / kWide, i = n % kWide;
        const int64_t at = panel * kPanel + i * kLanes;
        float* y = p.y + (row + r) * p.y_stride + at;
        const V out = sum[r][i] + load(m.bias + at);
        store(y, p.add ? load(y) + out : out);
    });
}

static void product_bf16(const DecodeProduct& p) {
    const Pairs x = pairs_of(p, kLanes / 2);
    encode(p, x);
    for_panel_tiles<kRowTile>(p, (p.matrix.inputs + 1) / 2 * kPanel,
                              [&](auto count, auto lines, const Spot& spot)
                                  AFT_LAMBDA { panel_rows<count, lines>(p, x, spot); });
}

}  // namespace avx512

void use_bf16_products(DecodeKernels& table) {
    table.name = "avx512 vnni bf16";
    table.product[static_cast<int>(WeightFormat::bf16)] = avx512::product_bf16;
}

}  // namespace aft::ops::cpu

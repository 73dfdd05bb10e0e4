// int8 products for processors with AVX-512 VNNI: four inputs of 16 outputs in one instruction.
//   y[r, o] = bias[o] + step_r scale[o] (sum_i w[o, i] code[r, i] - zero_r sum_i w[o, i])
// A row of x is coded in bytes between its least and its largest value (and 0): the sums are exact
// integers, so that a row's result does not depend on the rows beside it. Cost: the bytes of the
// weights for a few rows, one product of bytes for each weight and row for many. Measured, 256 to
// 1024 on one core: 1 row 103, 16 rows 200 products a nanosecond; the processor's most is 235.
// Compiled with its flags; nothing else may be.
#define AFT_CPU_AVX512
#include "model/ops/cpu/decode/codes.inl"

namespace aft::ops::cpu {
namespace avx512 {

constexpr int kWide = 4, kRowTile = 6;
constexpr int64_t kPanel = kWide * kLanes;

// In source_at: the compiler's own form of it copied every sum before and after (59 instructions a
// step of 4 rows where these are 28).
AFT_INLINE void add_products(__m512i& sum, __m512i x, __m512i w) {
    asm("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(x), "v"(w));
}

template <int R, int lines>
AFT_INLINE void panel_rows(const DecodeProduct& p, const Codes& codes, const Spot& spot) {
    const auto [panel, row, from] = spot;
    const uint32_t* prefetch_from = from;
    const DecodeMatrix& m = p.matrix;
    const int64_t steps = codes.stride / 4;
    const uint32_t* w = static_cast<const uint32_t*>(m.weights) + panel * steps * kPanel;
    const uint8_t* x = codes.bytes + row * codes.stride;
    __m512i sum[R][kWide];
    each<R * kWide>([&](auto n) AFT_LAMBDA { sum[n / kWide][n % kWide] = _mm512_setzero_si512(); });
    for (int64_t s = 0; s < steps; ++s, w += kPanel, prefetch_from += 16 * lines) {
        prefetch<lines>(prefetch_from);
        __m512i a[kWide];
        each<kWide>([&](auto i) AFT_LAMBDA { a[i] = _mm512_loadu_si512(w + i * kLanes); });
        each<R>([&](auto r) AFT_LAMBDA {
            const __m512i four =
                _mm512_broadcastd_epi32(_mm_loadu_si32(x + r * codes.stride + 4 * s));
            each<kWide>([&](auto i) AFT_LAMBDA { add_products(sum[r][i], four, a[i]); });
        });
    }
    each<R * kWide>([&](auto n) AFT_LAMBDA {
        constexpr int r = n / kWide, i = n % kWide;
        const int64_t at = panel * kPanel + i * kLanes;
        float* y = p.y + (row + r) * p.y_stride + at;
        const V out = decoded(codes, row + r, at, sum[r][i]);
        store(y, p.add ? load(y) + out : out);
    });
}

static void product_int8(const DecodeProduct& p) {
    const Codes codes = codes_of(p, 4);
    encode(p, codes);
    for_panel_tiles<kRowTile>(p, codes.stride / 4 * kPanel,
                              [&](auto count, auto lines, const Spot& spot)
                                  AFT_LAMBDA { panel_rows<count, lines>(p, codes, spot); });
}

}  // namespace avx512

void use_vnni_products(DecodeKernels& table) {
    table.name = "avx512 vnni";
    table.product[static_cast<int>(WeightFormat::int8)] = avx512::product_int8;
}

}  // namespace aft::ops::cpu

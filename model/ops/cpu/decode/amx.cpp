// Products by AMX tiles: an instruction multiplies up to 16 rows with 16 outputs by 32 inputs in
// bf16, or 64 in int8.
//   y[r, o] = bias[o] + sum_i w[o, i] x[r, i], x coded as in avx512_bf16.cpp and avx512_vnni.cpp
//
// Packed weights are in the VNNI layout that the instruction wants of its right operand: a word
// holds 2 or 4 inputs of an output, 16 outputs are a row of a register, 16 words its rows. Four
// registers hold the sums of a panel, which hide each other's latency. Sums of bf16 are of float32,
// those of even and of odd inputs in turn, and the same for any number of rows: one row goes this
// way too. Sums of bytes are exact. Cost: the bytes of the weights. Measured on one core of a Xeon,
// weights 256 to 512 in the second-level cache: 16 rows 3.7 us (36 by avx512_bf16.cpp), 1 row 2.1
// (2.8). A token of 24 layers, d = 256, two cores: 64 rows 3.0 ms in bf16 and 2.2 in bytes (12.6
// and 4.4 before), 1 row in bf16 0.90 (0.82; weights 256 to 128 out of memory take 2.7 us, 2.3 by
// avx512_bf16.cpp). Compiled with its flags; nothing else may be.
#define AFT_CPU_AVX512
#include "model/ops/cpu/decode/codes.inl"

namespace aft::ops::cpu {
namespace avx512 {

constexpr int64_t kWide = 4, kPanel = kWide * kLanes;
constexpr int64_t kWords = 16, kMost = 16;  // words and rows of a register

// Registers 0 to 3 hold sums, 4 rows of x, 5 and 6 weights.
struct alignas(64) RowTileConfig {
    uint8_t palette = 1, start = 0, reserved[14] = {};
    uint16_t bytes[16] = {64, 64, 64, 64, 64, 64, 64};
    uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16};

    explicit RowTileConfig(int64_t count) {
        for (int i = 0; i < 5; ++i) rows[i] = static_cast<uint8_t>(count);
    }
};

struct Words {  // rows of x, whole registers of them
    const uint32_t* words;
    int64_t stride;
};

// 16 words of x times those of a panel. Registers are named by plain numbers only.
#define AFT_STEP(multiply)                      \
    _tile_loadd(4, x, x_bytes);                 \
    _tile_loadd(5, w, kPanel * 4);              \
    multiply(0, 4, 5);                          \
    _tile_loadd(6, w + kLanes, kPanel * 4);     \
    multiply(1, 4, 6);                          \
    _tile_loadd(5, w + 2 * kLanes, kPanel * 4); \
    multiply(2, 4, 5);                          \
    _tile_loadd(6, w + 3 * kLanes, kPanel * 4); \
    multiply(3, 4, 6)

struct OfBf16 {
    static constexpr int64_t kInputs = 2;
    static inline __attribute__((always_inline)) void step(const uint32_t* x, int64_t x_bytes,
                                                           const uint32_t* w) {
        AFT_STEP(_tile_dpbf16ps);
    }
};
struct OfBytes {
    static constexpr int64_t kInputs = 4;
    static inline __attribute__((always_inline)) void step(const uint32_t* x, int64_t x_bytes,
                                                           const uint32_t* w) {
        AFT_STEP(_tile_dpbusd);
    }
};
#undef AFT_STEP

// sums [rows, kPanel] of one panel; `last`: its last words, filled up with nothing, if there is a
// rest.
template <class Of>
AFT_INLINE void panel_sums(const Words& x, const uint32_t* w, int64_t words, const uint32_t* last,
                           void* sums) {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    const int64_t x_bytes = x.stride * 4;
    int64_t at = 0;
    for (; at + kWords <= words; at += kWords) Of::step(x.words + at, x_bytes, w + at * kPanel);
    if (at < words) Of::step(x.words + at, x_bytes, last);
    auto* const to = static_cast<uint32_t*>(sums);
    _tile_stored(0, to, kPanel * 4);
    _tile_stored(1, to + kLanes, kPanel * 4);
    _tile_stored(2, to + 2 * kLanes, kPanel * 4);
    _tile_stored(3, to + 3 * kLanes, kPanel * 4);
}

// put(row, first output, sums of a vector of outputs)
template <class Of, class Put>
AFT_INLINE void all_panels(const DecodeProduct& p, const Words& x, const Put& put) {
    alignas(64) uint32_t sums[kMost * kPanel], last[kWords * kPanel] = {};
    const int64_t words = (p.matrix.inputs + Of::kInputs - 1) / Of::kInputs;
    const int64_t rest = words % kWords;
    int64_t shaped = 0;
    for (int64_t panel = p.begin; panel < p.end; ++panel) {
        const uint32_t* w = static_cast<const uint32_t*>(p.matrix.weights) + panel * words * kPanel;
        if (rest != 0)
            __builtin_memcpy(last, w + (words - rest) * kPanel,
                             static_cast<uint64_t>(rest * kPanel) * 4);
        for (int64_t row = 0; row < p.rows; row += kMost) {
            const int64_t count = p.rows - row < kMost ? p.rows - row : kMost;
            if (count != shaped) {
                const RowTileConfig shapes(count);
                asm volatile("" ::"r"(&shapes) : "memory");  // all of it is read
                _tile_loadconfig(&shapes);
                shaped = count;
            }
            asm volatile("" ::: "memory");  // tile loads do not tell the compiler what they read
            panel_sums<Of>({x.words + row * x.stride, x.stride}, w, words, last, sums);
            asm volatile("" ::: "memory");
            for (int64_t r = 0; r < count; ++r)
                for (int64_t i = 0; i < kWide; ++i) {
                    const int64_t at = panel * kPanel + i * kLanes;
                    float* const y = p.y + (row + r) * p.y_stride + at;
                    const V out = put(row + r, at, sums + r * kPanel + i * kLanes);
                    store(y, p.add ? load(y) + out : out);
                }
        }
    }
    if (shaped > 0) _tile_release();
}

static void matrix_bf16(const DecodeProduct& p) {
    const Pairs x = pairs_of(p, kWords);
    encode(p, x);
    all_panels<OfBf16>(
        p, {x.words, x.stride}, [&](int64_t, int64_t at, const uint32_t* sums) AFT_LAMBDA {
            return load(reinterpret_cast<const float*>(sums)) + load(p.matrix.bias + at);
        });
}

// Sums of int8 products are exact either way, and a few rows are faster without tiles.
constexpr int64_t kFew = 4;
static void (*of_few)(const DecodeProduct&) = nullptr;

static void matrix_int8(const DecodeProduct& p) {
    if (p.rows <= kFew) return of_few(p);
    const Codes codes = codes_of(p, 4 * kWords);
    encode(p, codes);
    all_panels<OfBytes>(p, {reinterpret_cast<const uint32_t*>(codes.bytes), codes.stride / 4},
                        [&](int64_t row, int64_t at, const uint32_t* sums) AFT_LAMBDA {
                            return decoded(codes, row, at, _mm512_loadu_si512(sums));
                        });
}

}  // namespace avx512

void use_amx_products(DecodeKernels& table) {
    table.name = "avx512 amx";
    table.product[static_cast<int>(WeightFormat::bf16)] = avx512::matrix_bf16;
    auto*& of_bytes = table.product[static_cast<int>(WeightFormat::int8)];
    avx512::of_few = of_bytes;
    of_bytes = avx512::matrix_int8;
}

}  // namespace aft::ops::cpu

// A few rows through packed weights, the kernels alone: heights of a tile and numbers of tiles
// against float64, and that no row's bits depend on the rows beside it nor on what is asked
// for ahead.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "model/ops/cpu/decode/kernels.h"
#include "model/ops/cpu/simd/buffer.h"

namespace aft {
namespace {

using ops::cpu::Buffer;
using ops::cpu::decode_kernels;
using ops::cpu::WeightFormat;

int weight_of(int64_t o, int64_t i) {  // exact in bf16 and in a byte
    return static_cast<int>((o * 37 + i * 101 + o * i) % 201) - 100;
}
float input_of(int64_t row, int64_t i) {
    return std::sin(static_cast<float>(3 * i + 7 * row + 1)) * static_cast<float>(1 + row % 3);
}

struct ProductProblem {
    WeightFormat format;
    int64_t inputs, panels = 3;
    Buffer<uint32_t> words;
    Buffer<float> bias, scale;
    Buffer<int32_t> sums;

    ProductProblem(WeightFormat f, int64_t n) : format(f), inputs(n) {
        const int64_t panel = decode_kernels().panel, outputs = panels * panel;
        const int64_t each = f == WeightFormat::fp32 ? 1 : f == WeightFormat::bf16 ? 2 : 4;
        const int64_t steps = (n + each - 1) / each;
        words = Buffer<uint32_t>(outputs * steps + 4 * panel, true);
        bias = Buffer<float>(outputs, true);
        scale = Buffer<float>(outputs, true);
        sums = Buffer<int32_t>(outputs, true);
        for (int64_t o = 0; o < outputs; ++o) {
            bias.data()[o] = static_cast<float>(o % 5);
            scale.data()[o] = 0.25F;
            for (int64_t i = 0; i < n; ++i) {
                put(words.data() + (o / panel * steps + i / each) * panel + o % panel, i % each,
                    weight_of(o, i));
                sums.data()[o] += weight_of(o, i);
            }
        }
    }
    void put(uint32_t* word, int64_t place, int weight) const {
        const auto real = static_cast<float>(weight);
        uint32_t bits = 0;
        std::memcpy(&bits, &real, sizeof bits);
        if (format == WeightFormat::fp32)
            *word = bits;
        else if (format == WeightFormat::bf16)
            *word |= bits >> 16 << (16 * place);
        else
            *word |= static_cast<uint32_t>(weight & 0xff) << (8 * place);
    }
    [[nodiscard]] double wanted(int64_t row, int64_t o) const {
        double sum = 0;
        for (int64_t i = 0; i < inputs; ++i) sum += double{input_of(row, i)} * weight_of(o, i);
        return sum * (format == WeightFormat::int8 ? 0.25 : 1) + static_cast<double>(o % 5);
    }
    // y of the rows [first, first + rows), [rows, outputs]
    [[nodiscard]] std::vector<float> found(int64_t first, int64_t rows, bool prefetches) const {
        const int64_t stride = (inputs + 3) / 4 * 4, outputs = panels * decode_kernels().panel;
        Buffer<float> x(rows * stride, true), y(rows * outputs, true);
        Buffer<uint8_t> codes(rows * (2 * stride + 64), true);
        for (int64_t r = 0; r < rows; ++r)
            for (int64_t i = 0; i < inputs; ++i) x.data()[r * stride + i] = input_of(first + r, i);
        const bool is_int8 = format == WeightFormat::int8;
        decode_kernels().product[static_cast<int>(format)](
            {.matrix = {words.data(), bias.data(), is_int8 ? scale.data() : nullptr,
                        is_int8 ? sums.data() : nullptr, inputs},
             .x = x.data(),
             .x_stride = stride,
             .rows = rows,
             .begin = 0,
             .end = panels,
             .y = y.data(),
             .y_stride = outputs,
             .codes = codes.data(),
             .prefetches = prefetches});
        return {y.data(), y.data() + rows * outputs};
    }
};

TEST(DecodeProduct, AnyNumberOfRows) {
    constexpr int64_t kMost = 33;
    const double limits[] = {1e-6, 5e-3, 5e-3};  // of the largest result
    for (const WeightFormat format : {WeightFormat::fp32, WeightFormat::bf16, WeightFormat::int8})
        for (const int64_t inputs : {1, 30, 100, 256}) {
            SCOPED_TRACE(static_cast<int>(format) * 1000 + inputs);
            const ProductProblem problem(format, inputs);
            const std::vector<float> all = problem.found(0, kMost, true);
            const auto outputs = static_cast<int64_t>(all.size()) / kMost;
            double largest = 0, error = 0;
            for (int64_t row = 0; row < kMost; ++row)
                for (int64_t o = 0; o < outputs; ++o) {
                    const double wanted = problem.wanted(row, o);
                    largest = std::max(largest, std::abs(wanted));
                    error = std::max(error, std::abs(double{all[row * outputs + o]} - wanted));
                }
            EXPECT_LE(error, limits[static_cast<int>(format)] * largest);
            for (const int64_t rows :
                 {1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 16, 17, 24, 25, 30, 32, 33})
                for (const bool prefetches : {false, true}) {
                    const int64_t first = kMost - rows;
                    const std::vector<float> some = problem.found(first, rows, prefetches);
                    EXPECT_TRUE(std::equal(some.begin(), some.end(), all.begin() + first * outputs))
                        << rows << " rows" << (prefetches ? ", prefetching" : "");
                }
        }
}

// GELU of a row against libm's erf, whole and short, in the columns asked for alone.
TEST(DecodeProduct, activation_is_near) {
    constexpr int64_t kWidth = 192, kBegin = 64, kEnd = 128;
    for (const bool is_short : {false, true}) {
        Buffer<float> row(kWidth);
        const auto given = [](int64_t i) { return static_cast<float>(i - 96) * 0.25F; };
        for (int64_t i = 0; i < kWidth; ++i) row.data()[i] = given(i);
        decode_kernels().activate({.x = row.data(),
                                   .rows = 1,
                                   .stride = kWidth,
                                   .begin = kBegin,
                                   .end = kEnd,
                                   .kind = ops::cpu::DecodeActivation::gelu,
                                   .is_short = is_short});
        for (int64_t i = 0; i < kWidth; ++i) {
            const auto x = static_cast<double>(given(i));
            const bool asked = i >= kBegin && i < kEnd;
            const double y = asked ? x * (1 + std::erf(x / std::sqrt(2.0))) / 2 : x;
            const double error = std::abs(static_cast<double>(row.data()[i]) - y);
            // x/2 (1 + erf): its formula is off by 1.5e-7 = 2.5 u, its dozen roundings by 12 u.
            EXPECT_LE(error, is_short ? 1e-4 : 16 * 0x1p-24 * std::abs(x)) << x << " " << is_short;
        }
    }
}

}  // namespace
}  // namespace aft

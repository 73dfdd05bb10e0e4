// Older chunks accumulated for a block of targets in bf16, kernel against kernel:
// accumulate_chunk_bf16 against accumulate_exact.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "model/decode/packed_state.h"
#include "model/ops/cpu/decode/kernels.h"

namespace aft {
namespace {

// Chunks of sources for every target of a block, in bf16 against K itself.
struct MixBlock {
    using Chunk = decode::HistoryChunk;
    static constexpr int64_t kBlock = ops::cpu::kDecodeBlock, kWidth = 64;
    std::function<float(int64_t, int64_t)> k = [](int64_t j, int64_t c) {
        return std::sin(static_cast<float>(7 * j + 3 * c));
    };
    std::function<float(int64_t, int64_t)> w = [](int64_t t, int64_t j) {
        return std::cos(static_cast<float>(5 * t + 11 * j));
    };

    int64_t chunks = 1;

    [[nodiscard]] std::vector<float> means(bool reduced) const {
        const ops::cpu::DecodeKernels& kernels = ops::cpu::decode_kernels();
        std::vector<float> sums(3 * kWidth * kBlock), none(3 * kWidth), means;
        std::fill_n(none.begin(), kWidth, -3e38F);
        for (int64_t first = 0; first < chunks * kBlock; first += kBlock) {
            Chunk chunk(kWidth);
            fill(chunk, first);
            const ops::cpu::DecodeChunk part = chunk.view(0, kWidth, kBlock);
            if (first == 0) kernels.broadcast_state(part, none.data(), sums.data());
            if (reduced)
                accumulate_bf16(part, first, sums.data());
            else
                for (int64_t t = 0; t < kBlock; ++t)
                    accumulate_exactly(part, {t, first}, sums.data());
        }
        for (int64_t t = 0; t < kBlock; ++t)
            for (int64_t c = 0; c < kWidth; ++c) {
                const float* at =
                    sums.data() + 3 * (c / kernels.lanes * kBlock + t) * kernels.lanes;
                means.push_back(at[kernels.lanes + c % kernels.lanes] /
                                at[2 * kernels.lanes + c % kernels.lanes]);
            }
        return means;
    }

    void fill(Chunk& chunk, int64_t first) const {
        for (int64_t j = 0; j < kBlock; ++j) {
            std::vector<float> key, value;
            for (int64_t c = 0; c < kWidth; ++c) {
                key.push_back(k(first + j, c));
                value.push_back(std::cos(static_cast<float>(13 * (first + j) + c)));
            }
            ops::cpu::decode_kernels().append(chunk.view(0, kWidth, j + 1),
                                              {key.data(), value.data()}, j);
        }
    }

    struct At {
        int64_t target = 0, first = 0;  // first source of the chunk
    };
    void accumulate_exactly(const ops::cpu::DecodeChunk& chunk, At at, float* sums) const {
        double row[kBlock];
        float exponent[kBlock], mantissa[kBlock];
        for (int64_t j = 0; j < kBlock; ++j) row[j] = w(at.target, at.first + j);
        ops::cpu::decode_kernels().split_exponents({row, exponent, mantissa});
        ops::cpu::decode_kernels().accumulate_exact({.chunk = chunk,
                                                     .exponent = exponent,
                                                     .mantissa = mantissa,
                                                     .sums = sums,
                                                     .target = at.target});
    }

    void accumulate_bf16(const ops::cpu::DecodeChunk& chunk, int64_t first, float* sums) const {
        const ops::cpu::DecodeKernels& kernels = ops::cpu::decode_kernels();
        uint32_t pairs[kBlock * kBlock / 2];
        float largest[kBlock];
        std::vector<int64_t> wide;
        kernels.finalize_chunk_bf16(chunk);
        for (int64_t t = 0; t < kBlock; ++t) {
            float row[kBlock];
            for (int64_t j = 0; j < kBlock; ++j) row[j] = w(t, first + j);
            if (!kernels.tile_row_bf16({row, pairs + t * kBlock / 2, largest + t}))
                wide.push_back(t);
        }
        kernels.accumulate_chunk_bf16(
            {.chunk = chunk, .pairs = pairs, .largest = largest, .targets = kBlock, .sums = sums});
        for (const int64_t t : wide) accumulate_exactly(chunk, {t, first}, sums);
    }
};

// Ordinary keys, keys across the promised range, spikes that the biases hide, biases far apart.
TEST(DecodeAccumulate, BlocksAccumulatedInBf16) {
    if (ops::cpu::decode_kernels().accumulate_chunk_bf16 == nullptr)
        GTEST_SKIP() << "no bf16 in this set";
    const auto error_of = [](const MixBlock& block) {
        const std::vector<float> found = block.means(true), wanted = block.means(false);
        double error = 0;
        for (size_t i = 0; i < found.size(); ++i) {
            if (!std::isfinite(found[i])) return double{INFINITY};
            error = std::max(error, std::abs(static_cast<double>(found[i]) - wanted[i]));
        }
        return error;  // of values up to 1
    };
    const MixBlock plain;
    EXPECT_LT(error_of(plain), 1e-2);
    EXPECT_GT(error_of(plain), 1e-6);
    MixBlock saw, spikes, wide, hidden;
    saw.k = [](int64_t j, int64_t c) { return 200 * static_cast<float>((j + c) % 32) / 31 - 100; };
    saw.w = [](int64_t t, int64_t j) { return static_cast<float>((t * 7 + j * 3) % 101) - 50; };
    EXPECT_LT(error_of(saw), 1e-2);
    spikes.k = [](int64_t j, int64_t c) {
        return j == 10 ? 100.0F : std::sin(static_cast<float>(7 * j + c));
    };
    spikes.w = [](int64_t t, int64_t j) {
        return j == 10 ? -50.0F : std::cos(static_cast<float>(5 * t + j));
    };
    EXPECT_LT(error_of(spikes), 1e-2);
    hidden.k = spikes.k;
    hidden.w = [](int64_t t, int64_t j) {
        return j == 10 ? -100.0F : std::cos(static_cast<float>(5 * t + j));
    };
    EXPECT_LT(error_of(hidden), 1e-2);
    wide.w = [](int64_t t, int64_t j) {
        return 300 * std::cos(5.0F * static_cast<float>(t) + 11.0F * static_cast<float>(j));
    };
    EXPECT_LT(error_of(wide), 1e-2);

    // The largest key of the first chunk is hidden by its own bias, so that nothing is as large as
    // the sum's scale; what counts comes later, near the end of what one factor can bring.
    for (const float bias : {-36.0F, -38.0F, -41.0F, -45.0F}) {
        MixBlock late;
        late.chunks = 2;
        late.k = [](int64_t j, int64_t) { return j == 0 ? 69.3147F : j < 32 ? 0.0F : 29.1122F; };
        late.w = [bias](int64_t, int64_t j) { return j == 0 ? bias : 0.0F; };
        EXPECT_LT(error_of(late), 1e-2) << bias;
    }
}

}  // namespace
}  // namespace aft

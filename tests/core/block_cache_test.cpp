// Large blocks: what is freed is given out again, and what is kept never exceeds the peak by more
// than the spare.
#include "core/system/block_cache.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <thread>

namespace aft {
namespace {

constexpr size_t kMega = size_t{1} << 20, kSpare = 32 * kMega;

TEST(BlockCache, ABlockOfTheSameSizeIsGivenOutAgain) {
    BlockCache cache;
    void* const first = cache.allocate(3 * kMega);
    ASSERT_NE(first, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % 64, 0u);
    std::memset(first, 1, 3 * kMega);
    EXPECT_TRUE(cache.free(first));
    EXPECT_EQ(cache.use().in_use, 0u);
    EXPECT_EQ(cache.allocate(3 * kMega), first);
    EXPECT_EQ(cache.use().kept, 0u);
    EXPECT_EQ(cache.use().mapped, 1);
    EXPECT_TRUE(cache.free(first));
    void* const other = cache.allocate(9 * kMega);
    EXPECT_NE(other, first) << "of another size";
    EXPECT_TRUE(cache.free(other));
}

TEST(BlockCache, WhatIsNotItsOwnIsRefused) {
    BlockCache cache;
    std::vector<std::byte> own(4 * kMega);
    for (size_t at = 0; at < own.size(); at += 64) ASSERT_FALSE(cache.free(own.data() + at));
    EXPECT_FALSE(cache.free(nullptr));
    void* const block = cache.allocate(kMega);
    EXPECT_TRUE(cache.free(block));
    EXPECT_FALSE(cache.free(block)) << "a second time";
}

TEST(BlockCache, NeverKeepsMoreThanThePeakAndTheSpare) {
    BlockCache cache;
    std::mt19937 random(1);
    std::vector<std::pair<unsigned char*, size_t>> blocks;
    size_t peak = 0;
    for (int i = 0; i < 4000; ++i) {
        if (blocks.size() > 20 || (!blocks.empty() && random() % 2 == 0)) {
            std::swap(blocks[random() % blocks.size()], blocks.back());
            const auto [data, bytes] = blocks.back();
            ASSERT_EQ(data[0], data[bytes - 1]) << "another block wrote here";
            ASSERT_TRUE(cache.free(data));
            blocks.pop_back();
        } else {
            const size_t bytes = kMega / 4 * (1 + random() % 40) + random() % 5000;
            auto* const data = static_cast<unsigned char*>(cache.allocate(bytes));
            ASSERT_NE(data, nullptr);
            data[0] = data[bytes - 1] = static_cast<unsigned char>(i);
            blocks.emplace_back(data, bytes);
        }
        const BlockCache::Use use = cache.use();
        peak = std::max(peak, use.in_use);
        ASSERT_EQ(use.peak, peak);
        ASSERT_LE(use.in_use + use.kept, peak + kSpare);
    }
    for (const auto& [data, bytes] : blocks) EXPECT_TRUE(cache.free(data));
    EXPECT_GT(cache.use().kept, 0u);
    cache.trim();
    EXPECT_EQ(cache.use().kept, 0u);
    EXPECT_EQ(cache.use().peak, 0u);
}

// As a step: up to the peak in one size, down in another, the same sizes every time.
TEST(BlockCache, ARepeatedStepMapsLittleAnew) {
    BlockCache cache;
    const auto step = [&cache] {
        std::vector<void*> blocks;
        for (int layer = 0; layer < 12; ++layer)
            for (const size_t bytes : {12 * kMega, 3 * kMega, 3 * kMega})
                blocks.push_back(cache.allocate(bytes));
        for (; !blocks.empty(); blocks.pop_back()) {
            void* const gradient = cache.allocate(12 * kMega);
            EXPECT_TRUE(cache.free(blocks.back()));
            EXPECT_TRUE(cache.free(gradient));
        }
    };
    step();
    const int64_t first = cache.use().mapped;
    for (int i = 0; i < 10; ++i) step();
    EXPECT_EQ(cache.use().mapped, first);
}

TEST(BlockCache, ThreadsShareIt) {
    BlockCache cache;
    const auto work = [&cache](unsigned seed) {
        std::mt19937 random(seed);
        for (int i = 0; i < 300; ++i) {
            const size_t bytes = kMega * (1 + random() % 4);
            auto* const data = static_cast<unsigned char*>(cache.allocate(bytes));
            ASSERT_NE(data, nullptr);
            data[0] = data[bytes - 1] = static_cast<unsigned char>(seed);
            ASSERT_EQ(data[0], seed);
            ASSERT_EQ(data[bytes - 1], seed);
            ASSERT_TRUE(cache.free(data));
        }
    };
    {
        const std::jthread one(work, 1), two(work, 2), three(work, 3);
    }
    EXPECT_EQ(cache.use().in_use, 0u);
}

TEST(BlockCache, NoMemoryIsNoBlock) {
    BlockCache cache;
    EXPECT_EQ(cache.allocate(size_t{1} << 60), nullptr);
    EXPECT_EQ(cache.allocate(SIZE_MAX), nullptr);
    EXPECT_EQ(cache.allocate(SIZE_MAX - 5000), nullptr);
    EXPECT_EQ(cache.use().in_use, 0u);
    EXPECT_EQ(cache.use().peak, 0u);
}

}  // namespace
}  // namespace aft

#include "core/system/spin_limiter.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <functional>
#include <memory>
#include <thread>
#include <utility>

#include "core/system/foreign_cpu_load.h"

namespace aft {
namespace {

using Clock = std::chrono::steady_clock;

int64_t threads_of_this_process() {
    int64_t count = 0;
    for ([[maybe_unused]] const auto& entry :
         std::filesystem::directory_iterator("/proc/self/task"))
        ++count;
    return count;
}

// Those of earlier tests may still be ending.
int64_t settled_threads() {
    int64_t count = threads_of_this_process();
    for (int same = 0; same < 40; ++same) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        if (threads_of_this_process() != std::exchange(count, threads_of_this_process())) same = 0;
    }
    return count;
}

bool comes_within(double seconds, const std::function<bool()>& holds) {
    const auto start = Clock::now();
    while (std::chrono::duration<double>(Clock::now() - start).count() < seconds) {
        if (holds()) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
}

// One team more than there are cores is what makes OpenMP's spins short.
TEST(SpinLimiter, AnIdleTeamIsThereWhileOthersTakeTheCores) {
    const auto others = std::make_shared<std::atomic<double>>(0);
    const int64_t before = settled_threads(), cores = omp_get_num_procs();
    {
        const SpinLimiter spins([others] { return others->load(); }, 0.01);
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        EXPECT_EQ(threads_of_this_process(), before + 1);
        *others = 0.5;
        EXPECT_TRUE(comes_within(20, [&] { return threads_of_this_process() > before + cores; }));
        *others = 0.1;  // between the two limits nothing changes
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        EXPECT_GT(threads_of_this_process(), before + cores);
        *others = 0;
        EXPECT_TRUE(comes_within(20, [&] { return threads_of_this_process() == before + 1; }));
        *others = 0.5;
        EXPECT_TRUE(comes_within(20, [&] { return threads_of_this_process() > before + cores; }));
    }
    EXPECT_TRUE(comes_within(20, [&] { return threads_of_this_process() == before; }));
}

TEST(ForeignCpuLoad, WhatThisProcessTakesIsNotTheirs) {
    const ForeignCpuLoad foreign_load;
    const auto start = Clock::now();
    const std::clock_t used = std::clock();
    std::atomic<int64_t> turns = 0;
    while (std::clock() - used < CLOCKS_PER_SEC / 2) ++turns;
    const double share = foreign_load.share();
    EXPECT_GE(share, 0) << "the system must tell";
    const double wall = std::chrono::duration<double>(Clock::now() - start).count();
    const double own = 0.5 / wall / static_cast<double>(omp_get_num_procs());
    EXPECT_LE(share, 1 - 0.8 * own) << "own share " << own;
    const ForeignCpuLoad now;  // what the host takes is in the share alone
    EXPECT_GE(foreign_load.programs(now), 0);
    EXPECT_LE(foreign_load.programs(now), foreign_load.share(now));
}

}  // namespace
}  // namespace aft

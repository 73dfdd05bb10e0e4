#include "core/system/spin_limiter.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <thread>

#include "core/system/foreign_cpu_load.h"

namespace aft {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kHangs_s = 300;  // only met where something never comes

std::set<std::string> thread_ids() {
    std::set<std::string> ids;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task"))
        ids.insert(entry.path().filename().string());
    return ids;
}

// Counts the threads of this process that are not in `before`, which may still be ending.
int64_t count_new_threads(const std::set<std::string>& before) {
    int64_t count = 0;
    for (const std::string& id : thread_ids()) count += before.contains(id) ? 0 : 1;
    return count;
}

bool comes(const std::function<bool()>& holds) {
    const auto start = Clock::now();
    while (std::chrono::duration<double>(Clock::now() - start).count() < kHangs_s) {
        if (holds()) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
}

// One team more than there are cores is what makes OpenMP's spins short.
TEST(SpinLimiter, AnIdleTeamIsThereWhileOthersTakeTheCores) {
    struct Load {
        std::atomic<double> share = 0;
        std::atomic<int64_t> looks = 0;
    };
    const auto others = std::make_shared<Load>();
    const std::set<std::string> before = thread_ids();
    const int64_t cores = omp_get_num_procs();
    // The limiter has acted on what it saw before the last of several looks.
    const auto has_looked = [&] {
        return comes([&, from = others->looks.load()] { return others->looks >= from + 5; });
    };
    {
        const SpinLimiter spins(
            [others] {
                ++others->looks;
                return others->share.load();
            },
            0.01);
        EXPECT_TRUE(has_looked());
        EXPECT_EQ(count_new_threads(before), 1);
        others->share = 0.5;
        EXPECT_TRUE(comes([&] { return count_new_threads(before) > cores; }));
        others->share = 0.1;  // between the two limits nothing changes
        EXPECT_TRUE(has_looked());
        EXPECT_GT(count_new_threads(before), cores);
        others->share = 0;
        EXPECT_TRUE(comes([&] { return count_new_threads(before) == 1; }));
        others->share = 0.5;
        EXPECT_TRUE(comes([&] { return count_new_threads(before) > cores; }));
    }
    EXPECT_TRUE(comes([&] { return count_new_threads(before) == 0; }));
}

TEST(ForeignCpuLoad, IsWhatOthersUsedOfAllCores) {
    const CpuTimes start{.programs = 100, .stolen = 10, .own = 50, .wall = 1000, .cores = 4};
    const auto after = [&](double programs, double stolen, double own) {
        CpuTimes times = start;
        times.programs += programs;
        times.stolen += stolen;
        times.own += own;
        times.wall += 5;
        return ForeignCpuLoad(times);
    };
    const ForeignCpuLoad load(start);
    // Of 20 s: 10 s of programs, 4 s of them of this process; the host took 2 s.
    EXPECT_DOUBLE_EQ(load.programs(after(10, 2, 4)), 0.3);
    EXPECT_DOUBLE_EQ(load.share(after(10, 2, 4)), 0.4);
    EXPECT_EQ(load.share(after(4, 0, 4)), 0) << "what this process uses is not theirs";
    EXPECT_EQ(load.programs(after(4, 0, 4.01)), 0) << "the system counts in ticks";
    EXPECT_EQ(load.programs(after(21, 0, 0)), 1);
    EXPECT_EQ(load.share(after(19, 3, 0)), 1);
    EXPECT_EQ(load.share(ForeignCpuLoad(start)), -1) << "no time has passed";
    CpuTimes unknown = start;
    unknown.programs = -1;
    EXPECT_EQ(load.share(ForeignCpuLoad(unknown)), -1);
    EXPECT_EQ(ForeignCpuLoad(unknown).programs(after(10, 2, 4)), -1);
}

double process_seconds() {
    return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

TEST(ForeignCpuLoad, ReadsTheTimesOfTheSystem) {
    const double before = process_seconds();
    const ForeignCpuLoad foreign_load;
    const double begin = process_seconds();
    std::atomic<int64_t> turns = 0;
    while (process_seconds() - begin < 0.5) ++turns;
    const ForeignCpuLoad now;
    const double used = now.times().own - foreign_load.times().own;
    constexpr double kTicks_s = 0.05;  // of CPU time: two clocks of the system are compared
    EXPECT_GE(used, 0.5 - kTicks_s);
    EXPECT_LE(used, process_seconds() - before + kTicks_s);
    EXPECT_EQ(now.times().cores, omp_get_num_procs());
    EXPECT_GE(foreign_load.programs(now), 0) << "the system must tell";
    EXPECT_LE(foreign_load.programs(now), foreign_load.share(now));
    EXPECT_LE(foreign_load.share(now), 1);
}

}  // namespace
}  // namespace aft

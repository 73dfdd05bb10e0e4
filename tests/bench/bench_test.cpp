// The harness: statistics with known answers, and every listed workload on tiny shapes. No time is
// asserted.
#include "bench/bench.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "bench/statistics.h"

namespace aft::bench {
namespace {

TEST(BenchStatistics, MedianAndLeast) {
    const Summary odd = summarize({5, 1, 3});
    EXPECT_EQ(odd.least, 1);
    EXPECT_EQ(odd.median, 3);
    EXPECT_EQ(summarize({4, 1, 3, 2}).median, 2.5);
}

TEST(BenchStatistics, RatioIsOfMediansWithTheMiddleHalf) {
    const Ratio found = ratio({2, 4, 6, 8, 10}, {1, 1, 1, 1, 1});
    EXPECT_EQ(found.of_medians, 6);
    EXPECT_EQ(found.low, 4);
    EXPECT_EQ(found.high, 8);
}

TEST(BenchStatistics, FewerRoundsOfAPeerPairWithTheFirstOfOurs) {
    const Ratio found = ratio({6, 6}, {2, 3, 100, 100, 100});
    EXPECT_EQ(found.low, 2.25);
    EXPECT_EQ(found.high, 2.75);
}

TEST(BenchStatistics, DriftIsTheSameBothWays) {
    EXPECT_NEAR(drift(100, 120), 0.2, 1e-12);
    EXPECT_NEAR(drift(120, 100), 0.2, 1e-12);
    EXPECT_GT(drift(100, 116), kAllowedDrift);
    EXPECT_LT(drift(100, 114), kAllowedDrift);
    EXPECT_TRUE(std::isinf(drift(0, 100)));
}

TEST(Bench, UnknownWorkloadNamesTheOthers) {
    try {
        static_cast<void>(run({.filter = "nonsense"}, {}));
        FAIL() << "no error";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("local_fwd"), std::string::npos) << error.what();
    }
}

void check_contestant(const nlohmann::json& row, const nlohmann::json& one) {
    const std::string who = row["case"].get<std::string>() + ", " + one["name"].get<std::string>();
    if (row["kind"] == "memory") {
        EXPECT_TRUE(one["peak_bytes"].is_null() || one["peak_bytes"] >= 0) << who;
        return;
    }
    if (row["kind"] == "image") {
        EXPECT_GT(one["least_s"].get<double>(), 0) << who;
        return;
    }
    if (row["kind"] == "decode") {
        EXPECT_LT(one["error"].get<double>(), one["precision"] == "fp32" ? 1e-4 : 0.1) << who;
        EXPECT_GT(one["least_us"].get<double>(), 0) << who;
        return;
    }
    if (row["kind"] == "accuracy") {
        if (!one["ours"]) return;
        EXPECT_LT(one["error"].get<double>(), 1e-5) << who;
        EXPECT_LT(one["gradient_error"].get<double>(), 2e-5) << who;
        return;
    }
    ASSERT_TRUE(one["error"].is_number()) << who << " " << one["error"];
    EXPECT_LT(one["error"].get<double>(), one["precision"] == "bf16" ? 5e-2 : 1e-4) << who;
    EXPECT_EQ(one.contains("x_limit"), row["drift"].get<double>() <= kAllowedDrift) << who;
    EXPECT_GT(one["least_ms"].get<double>(), 0) << who;
}

TEST(Bench, EveryWorkloadRunsOnTinyShapes) {
    for (const RoomInfo& info : workload_list()) {
        const nlohmann::json result = run({.filter = info.name, .rounds = 3, .quick = true}, {});
        const nlohmann::json& rows = result["workloads"][0]["rows"];
        ASSERT_FALSE(rows.empty()) << info.name;
        for (const nlohmann::json& row : rows) {
            const nlohmann::json& all = row["contestants"];
            ASSERT_GE(all.size(), 2U) << info.name;
            EXPECT_TRUE(all[0]["ours"]) << info.name;
            for (const nlohmann::json& one : all) check_contestant(row, one);
        }
        for (const std::string& text : {words(result), markdown(result)}) {
            EXPECT_NE(text.find(info.name), std::string::npos);
            EXPECT_NE(text.find("afterimage"), std::string::npos) << text;
        }
    }
}

TEST(Bench, AStopTokenInterrupts) {
    std::stop_source stop;
    stop.request_stop();
    EXPECT_THROW(
        static_cast<void>(run({.filter = "local_fwd", .quick = true}, {.stop = stop.get_token()})),
        Interrupted);
}

}  // namespace
}  // namespace aft::bench

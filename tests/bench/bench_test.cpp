// The harness: statistics with known answers, and every listed workload on tiny shapes. No time is
// asserted.
#include "bench/bench.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <regex>

#include "bench/timing/statistics.h"

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

// What every kind of row must say of a contestant.
void check_errors(const nlohmann::json& row, const nlohmann::json& one, const std::string& who) {
    const std::string kind = row["kind"];
    const bool exact = one["precision"] == "fp32";
    if (kind == "accuracy") {
        if (!one["ours"]) return;  // peers may fail here
        EXPECT_LT(one["error"].get<double>(), exact ? 1e-5 : 1e-2) << who;
        ASSERT_EQ(one.contains("gradient_error"), exact) << who;
        if (!exact) return;
        EXPECT_LT(one["gradient_error"].get<double>(), 2e-5) << who;
        return;
    }
    ASSERT_TRUE(one["error"].is_number()) << who << " " << one["error"];
    EXPECT_LT(one["error"].get<double>(), exact ? 1e-4 : 0.1) << who;
    if (kind != "train") return;
    EXPECT_GT(one["loss"].get<double>(), 0.5) << who;
    EXPECT_LT(one["loss"].get<double>(), 7) << who;  // of a fresh model: about log(256) or less
    EXPECT_LT(one["gradient_error"].get<double>(), 1e-2) << who;
}

// A time is given over one of ours in the same row and precision, and of as many streams.
void check_pair(const nlohmann::json& row, const nlohmann::json& one, const std::string& who) {
    EXPECT_TRUE(row["has_ratios"]) << who;
    for (const nlohmann::json& other : row["contestants"]) {
        if (other["name"] != one["over"]) continue;
        EXPECT_TRUE(other["ours"]) << who;
        EXPECT_EQ(other["precision"], one["precision"]) << who;
        if (one.contains("rows") && !one["ours"]) {
            EXPECT_EQ(other["rows"], one["rows"]) << who;
        }
        return;
    }
    ADD_FAILURE() << who << " is over nobody";
}

void check_contestant(const nlohmann::json& row, const nlohmann::json& one) {
    const std::string who = row["case"].get<std::string>() + ", " + one["name"].get<std::string>();
    const std::string kind = row["kind"];
    if (kind == "memory") {
        EXPECT_TRUE(one["peak_bytes"].is_null() || one["peak_bytes"].is_number()) << who;
        return;
    }
    if (kind != "image" && kind != "program") check_errors(row, one, who);
    if (kind == "accuracy" || kind == "program") return;
    if (kind == "growth") {
        EXPECT_EQ(one["points"].size(), row["lengths"].size()) << who;
        for (const nlohmann::json& point : one["points"])
            EXPECT_GT(point["least_ms"].get<double>(), 0) << who;
        return;
    }
    const char* const least = kind == "image"    ? "least_s"
                              : kind == "decode" ? "least_us"
                                                 : "least_ms";
    EXPECT_GT(one[least].get<double>(), 0) << who;
    const bool has_ratios = row["has_ratios"];
    EXPECT_EQ(has_ratios, row["drift"].is_number() && row["drift"].get<double>() <= kAllowedDrift)
        << who;
    EXPECT_EQ(one.contains("ratio"), one.contains("over")) << who;
    if (one.contains("over")) check_pair(row, one, who);
    if (kind != "race") return;
    EXPECT_EQ(one.contains("x_limit"), has_ratios) << who;
}

void check_row(const std::string& name, const nlohmann::json& row) {
    const nlohmann::json& all = row["contestants"];
    for (const nlohmann::json& one : row["accept"]) {
        if (row["kind"] == "accuracy") continue;
        EXPECT_EQ(one["state"], "not judged") << name;
    }
    if (row["kind"] == "program") {  // nothing to start here
        EXPECT_FALSE(row["note"].get<std::string>().empty());
        return;
    }
    ASSERT_NE(row["kind"], "failed") << name << ": " << row["note"];
    ASSERT_GE(all.size(), 2U) << name;
    EXPECT_TRUE(all[0]["ours"]) << name;
    for (const nlohmann::json& one : all) check_contestant(row, one);
}

// Sections balance and the picture names what it shows.
void check_picture(const std::string& picture, const nlohmann::json& result) {
    EXPECT_EQ(picture.find("<svg"), 0U);
    EXPECT_NE(picture.find("</svg>"), std::string::npos);
    EXPECT_FALSE(std::regex_search(picture, std::regex("\\b(nan|inf)\\b")));  // numbers, not words
    EXPECT_NE(picture.find("prefers-color-scheme: dark"), std::string::npos);
    for (const nlohmann::json& row : result["workloads"][0]["rows"])
        if (row["kind"] == "growth")
            for (const nlohmann::json& one : row["contestants"]) {
                const std::string name = one["name"];
                EXPECT_NE(picture.find(name.substr(0, name.find(','))), std::string::npos) << name;
            }
}

class BenchWorkload : public testing::TestWithParam<std::string> {};

TEST_P(BenchWorkload, RunsOnTinyShapes) {
    const nlohmann::json result = run({.filter = GetParam(), .rounds = 3, .quick = true}, {});
    ASSERT_EQ(result["workloads"].size(), 1U);  // a whole name means one
    const nlohmann::json& rows = result["workloads"][0]["rows"];
    ASSERT_FALSE(rows.empty());
    for (const nlohmann::json& row : rows) check_row(GetParam(), row);
    for (const std::string& text : {words(result), markdown(result)}) {
        EXPECT_NE(text.find("OMP_WAIT_POLICY "), std::string::npos) << text;
        EXPECT_NE(text.find("GOMP_SPINCOUNT "), std::string::npos) << text;
        EXPECT_NE(text.find(GetParam()), std::string::npos);
        EXPECT_NE(text.find(rows[0]["case"].get<std::string>()), std::string::npos) << text;
    }
    if (const std::string picture = plot(result); !picture.empty()) check_picture(picture, result);
}

// A ratio that other programs have disturbed is no number, in the tables as in the window.
TEST(Bench, AContendedRowHasNoRatios) {
    nlohmann::json result = run({.filter = "simple_fwd", .rounds = 3, .quick = true}, {});
    nlohmann::json& row = result["workloads"][0]["rows"][0];
    row["best"] = {{{"precision", "fp32"}, {"name", "a peer"}, {"ratio", 8.75}}};
    nlohmann::json& peer = row["contestants"].back();
    peer["ratio"] = 7.25;
    peer["ratio_low"] = 7.0;
    peer["ratio_high"] = 7.5;
    for (const bool is_contended : {false, true}) {
        row["contended"] = is_contended;
        for (const std::string& text : {words(result), markdown(result)}) {
            EXPECT_EQ(text.find("7.25 (7.00 to 7.50)") == std::string::npos, is_contended) << text;
            EXPECT_EQ(text.find("8.75x") == std::string::npos, is_contended) << text;
            EXPECT_EQ(text.find("a peer (- CONTENDED)") != std::string::npos, is_contended);
        }
    }
}

// Tiny shapes may drift, but growth is always drawn, and rows without times never are.
TEST(Bench, APictureIsThereWhereThereIsSomethingToDraw) {
    EXPECT_NE(plot(run({.filter = "long", .rounds = 2, .quick = true}, {})), "");
    EXPECT_EQ(plot(run({.filter = "accuracy", .rounds = 2, .quick = true}, {})), "");
}

std::vector<std::string> workload_names() {
    std::vector<std::string> names;
    for (const RoomInfo& info : workload_list()) names.push_back(info.name);
    return names;
}

INSTANTIATE_TEST_SUITE_P(All, BenchWorkload, testing::ValuesIn(workload_names()),
                         [](const auto& one) { return one.param; });

TEST(Bench, TheListHoldsEveryRowOfTheContract) {
    const std::vector<std::string> names = workload_names();
    for (const char* name :
         {"simple_fwd",  "simple_bwd", "local_fwd",    "local_bwd",   "local_noncausal",
          "local_bytes", "full",       "conv2d",       "long",        "memory",
          "accuracy",    "decode_1",   "decode_local", "decode_full", "decode_batch",
          "image",       "step_cifar", "step_simple",  "step_bytes",  "step_images",
          "gui_train",   "startup"})
        EXPECT_EQ(std::count(names.begin(), names.end(), name), 1) << name;
}

TEST(Bench, AStopKeepsWhatWasMeasured) {
    std::stop_source stop;
    const JobControl control{.report =
                                 [&](const Progress& progress) {
                                     if (progress.done == 1) stop.request_stop();
                                 },
                             .stop = stop.get_token()};
    const nlohmann::json result = run({.filter = "simple", .rounds = 2, .quick = true}, control);
    EXPECT_TRUE(result["stopped"]);
    ASSERT_EQ(result["workloads"].size(), 1U);
    EXPECT_EQ(result["workloads"][0]["name"], "simple_fwd");
    EXPECT_EQ(result["workloads"][0]["rows"].size(), 2U);
    EXPECT_NE(words(result).find("Stopped before the end"), std::string::npos);
    EXPECT_EQ(run({.filter = "simple", .quick = true}, control)["workloads"].size(), 0U);
}

}  // namespace
}  // namespace aft::bench

// Each warning is reported once, to the sink if there is one.
#include "core/warnings.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace aft {
namespace {

TEST(Warnings, EachIsReportedOnce) {
    static int run = 0;  // reports stay for the whole process
    const std::string keys = "keys are large " + std::to_string(++run);
    const std::string biases = "biases are large " + std::to_string(run);
    std::vector<std::string> reported;
    WarningSink before =
        set_warning_sink([&](const std::string& text) { reported.push_back(text); });
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 4; ++i)
            threads.emplace_back([&] {
                for (int repeat = 0; repeat < 100; ++repeat) warn_once(keys);
            });
    }
    warn_once(biases);
    set_warning_sink(std::move(before));
    EXPECT_EQ(reported, (std::vector<std::string>{keys, biases}));
}

TEST(Warnings, ASubjectIsReportedOnceWithTheNumbersOfTheFirst) {
    static int run = 0;
    const std::string subject = "range of keys " + std::to_string(++run);
    std::vector<std::string> reported;
    WarningSink before = set_warning_sink([&](const auto& text) { reported.push_back(text); });
    for (const int found : {1500, 1600})
        warn_once_about(subject, [&] { return subject + ": " + std::to_string(found); });
    set_warning_sink(std::move(before));
    EXPECT_EQ(reported, std::vector<std::string>{subject + ": 1500"});
}

}  // namespace
}  // namespace aft

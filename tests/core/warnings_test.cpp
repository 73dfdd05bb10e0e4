// Each warning is reported once, to the sink if there is one.
#include "core/warnings.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace aft {
namespace {

TEST(Warnings, EachIsToldOnce) {
    static int run = 0;  // what was told stays told
    const std::string keys = "keys are large " + std::to_string(++run);
    const std::string biases = "biases are large " + std::to_string(run);
    std::vector<std::string> told;
    WarningSink before = set_warning_sink([&](const std::string& text) { told.push_back(text); });
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 4; ++i)
            threads.emplace_back([&] {
                for (int repeat = 0; repeat < 100; ++repeat) warn_once(keys);
            });
    }
    warn_once(biases);
    set_warning_sink(std::move(before));
    EXPECT_EQ(told, (std::vector<std::string>{keys, biases}));
}

}  // namespace
}  // namespace aft

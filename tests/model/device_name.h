// The device that the tests of models and sessions run on: AFTERIMAGE_DEVICE = cpu, cuda or auto,
// as --device of the program, or fake-gpu where fake_gpu.cpp is part of the tests; cpu where
// it is not set. Whoever includes this has it opened before the first test; where it is not to be
// had, or set to nothing, the program says so once, runs no test and ends with 1. Without LibTorch.
#pragma once
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "core/check.h"
#include "model/jobs.h"

namespace aft {

inline std::string test_device_name() {
    const char* const asked = std::getenv("AFTERIMAGE_DEVICE");
    return asked != nullptr ? asked : "cpu";
}

struct FakeGpu {
    void (*open)() = nullptr;
};
inline FakeGpu& fake_gpu() {
    static FakeGpu it;
    return it;
}

class TestDevice : public ::testing::Environment {
  protected:
    void SetUp() override {
        try {
            if (test_device_name() == "fake-gpu" && fake_gpu().open != nullptr)
                fake_gpu().open();
            else if (test_device_name() != "cpu")
                initialize_model(test_device_name(), 0);
        } catch (const Error& error) {
            fmt::print(stderr, "AFTERIMAGE_DEVICE: {}\n", error.what());
            std::exit(1);  // a failed environment would list every test as left out
        }
    }
};

inline ::testing::Environment* const kTestDevice =
    ::testing::AddGlobalTestEnvironment(new TestDevice);

}  // namespace aft

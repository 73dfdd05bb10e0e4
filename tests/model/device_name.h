// The device that the tests of models and sessions run on: AFTERIMAGE_DEVICE = cpu, cuda or auto,
// as --device of the program, or stand-in (stand_in_device.h); cpu where it is not set. Whoever includes this has it opened before
// the first test; where it is not to be had the program says so once and runs no test. Without
// LibTorch.
#pragma once
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "core/check.h"
#include "model/jobs.h"

namespace aft {

inline std::string test_device_name() {
    const char* const asked = std::getenv("AFTERIMAGE_DEVICE");
    return asked != nullptr && *asked != '\0' ? asked : "cpu";
}

class TestDevice : public ::testing::Environment {
  protected:
    void SetUp() override {
        try {
            const bool known = test_device_name() == "cpu" || test_device_name() == "stand-in";
            if (!known) initialize_model(test_device_name(), 0);
        } catch (const Error& error) {
            FAIL() << "AFTERIMAGE_DEVICE: " << error.what();
        }
    }
};

inline ::testing::Environment* const kTestDevice =
    ::testing::AddGlobalTestEnvironment(new TestDevice);

}  // namespace aft

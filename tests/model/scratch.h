// The folder of one test, shared with tests/core. Tests only.
#pragma once
#include <cstdlib>

#include "tests/core/scratch.h"

namespace aft {

// Real data beside the repository; tests on it are skipped where it is not.
inline std::filesystem::path real_data(const std::string& name) {
    const char* folder = std::getenv("AFTERIMAGE_DATA");
    const std::filesystem::path root =
        folder ? folder : std::filesystem::path(AFT_SOURCE_DIR) / "../shared/data";
    return root / name;
}

}  // namespace aft

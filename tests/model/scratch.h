// The folder of one test, shared with tests/core. Tests only.
#pragma once
#include "core/environment.h"
#include "tests/core/scratch.h"
#include "tests/source_file.h"

namespace aft {

// Real data beside the repository; tests on it are skipped where it is not.
inline std::filesystem::path real_data(const std::string& name) {
    const std::filesystem::path root = variable("AFTERIMAGE_DATA");
    if (!root.empty()) return root / name;
    return source_file("../shared/data") / name;
}

}  // namespace aft

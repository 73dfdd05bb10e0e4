// A folder of one test, removed at its end. Tests only.
#pragma once
#include <filesystem>
#include <fstream>
#include <string>

#include "core/files.h"

namespace aft {

class Scratch : public TemporaryFolder {
  public:
    Scratch() : TemporaryFolder("aft-test-") {}
    [[nodiscard]] int64_t entries() const {
        int64_t n = 0;
        for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(path())) ++n;
        return n;
    }
};

// Writes without flushing to the disk: for tests that write hundreds of files.
inline void put(const std::filesystem::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
}

// What the thrown aft::Error says; "" if nothing was thrown.
template <class Call>
std::string error_of(const Call& call) {
    try {
        call();
    } catch (const std::exception& error) {
        return error.what();
    }
    return "";
}

inline bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace aft

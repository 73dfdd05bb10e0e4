// Time between moments of the steady clock, and times of files. Any thread.
#pragma once
#include <chrono>
#include <cstdint>
#include <filesystem>

namespace aft {

[[nodiscard]] inline double ms_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
        .count();
}

[[nodiscard]] inline double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

[[nodiscard]] inline double seconds_between(std::chrono::steady_clock::time_point from,
                                            std::chrono::steady_clock::time_point to) {
    return std::chrono::duration<double>(to - from).count();
}

// Of a file's time, as std::time_t counts.
[[nodiscard]] inline int64_t unix_seconds(std::filesystem::file_time_type time) {
    const auto system = std::chrono::file_clock::to_sys(time);
    return std::chrono::duration_cast<std::chrono::seconds>(system.time_since_epoch()).count();
}

}  // namespace aft

// What a checkpoint's metadata say of it: one JSON object, of which docs/format.md lists the keys.
// No LibTorch. Any thread.
#pragma once
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace aft {

inline constexpr int64_t kCheckpointVersion = 1;
inline constexpr const char* kDescriptionKey = "afterimage";  // in the metadata

struct Description {
    // Exactly one of these is an object, unchecked; the other null.
    nlohmann::json config, maps;
    nlohmann::json metrics, data, training;  // objects, or null
    std::optional<nlohmann::json> task;
    int64_t step = 0;  // 0 or more
};

// Error, with the path, on a description that is missing, broken or of an unknown version.
[[nodiscard]] Description parse_description(const std::map<std::string, std::string>& metadata,
                                            const std::string& path);

}  // namespace aft

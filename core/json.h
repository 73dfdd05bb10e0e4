// The one reader of JSON that comes from outside: configs, headers and metadata of checkpoints,
// metrics, notes, events, user settings, presets. At most 64 levels deep and a key only once in an
// object; every failure is an aft::Error that begins with the file's name. Nesting costs no stack.
// Any thread, no state; time and memory in proportion to the text.
#pragma once
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "core/check.h"

namespace aft {

inline constexpr size_t kMostJsonLevels = 64;

// For messages.
struct JsonOrigin {
    std::string_view file;              // or file and key: "a.safetensors: afterimage"
    std::optional<uint64_t> line_at{};  // the byte where the line begins, in files of lines
    ErrorKind kind = ErrorKind::failed;
};

[[nodiscard]] nlohmann::json parse_json(std::string_view text, const JsonOrigin& origin);
[[nodiscard]] nlohmann::json read_json_file(const std::filesystem::path& path, uint64_t max_bytes,
                                            ErrorKind kind = ErrorKind::failed);

// As events, without a tree: for large texts of a known form. Depth and syntax are checked here;
// that a key is there once is up to `events`. Its parse_error is never called.
using JsonEvents = nlohmann::json_sax<nlohmann::json>;
void scan_json(std::string_view text, const JsonOrigin& origin, JsonEvents& events);

// As text that is written to a file, indented by so many columns; -1 = on one line. Whatever is not
// UTF-8 (a path, say) becomes U+FFFD: what is written can be read back.
[[nodiscard]] std::string json_text(const nlohmann::json& value, int indent = -1);
[[nodiscard]] std::string json_text(const nlohmann::ordered_json& value, int indent = -1);

// A number that is left out is the standard one; one out of range comes to its end, also 1e300 as a
// whole number. Throws where it is of another kind.
struct NumberLimits {
    double standard = 0, low = 0, high = 0;
};
[[nodiscard]] double clamped_number(const nlohmann::json& of, const char* key,
                                    const NumberLimits& limits);
[[nodiscard]] int64_t clamped_whole(const nlohmann::json& of, const char* key,
                                    const NumberLimits& limits);

// What was found, for a message: the value itself where it is short, else its type and at most 80
// characters of it.
[[nodiscard]] std::string found_json(const nlohmann::json& value);

}  // namespace aft

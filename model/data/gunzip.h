// Inflates a gzip text in memory. Any thread. Errors name `path` (the file it came from).
#pragma once
#include <cstdint>
#include <string>

namespace aft {

// At most max_bytes come out; a broken or truncated stream is an error.
[[nodiscard]] std::string gunzip(const std::string& packed, const std::string& path,
                                 uint64_t max_bytes);

}  // namespace aft

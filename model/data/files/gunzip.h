// Inflates a gzip text in memory. Any thread. Errors name `path` (the file it came from).
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace aft {

// The size that the header of the unpacked data promises.
struct Promise {
    size_t head_bytes = 0;                                   // of that header
    std::function<uint64_t(std::string_view head)> total{};  // bytes, the head included; may throw
};

// Exactly the promised bytes come out, and no more memory is taken; a broken or truncated stream
// and one that holds fewer or more are errors.
[[nodiscard]] std::string gunzip(const std::string& packed, const std::string& path,
                                 const Promise& promise);

}  // namespace aft

// Names of files that nobody has yet. Touches the disk. Any thread.
#pragma once
#include <filesystem>
#include <functional>

namespace aft {

// The first of r.json, r-2.json, r-3.json, ... that is not there or that `may_replace`; of r-5.json
// as `wanted` from there on. Empty where a thousand are taken.
[[nodiscard]] std::filesystem::path free_file(
    const std::filesystem::path& wanted,
    const std::function<bool(const std::filesystem::path&)>& may_replace = nullptr);

}  // namespace aft

#include "core/free_file.h"

#include <fmt/format.h>

#include <charconv>
#include <string>

namespace aft {

namespace fs = std::filesystem;

fs::path free_file(const fs::path& wanted,
                   const std::function<bool(const fs::path&)>& may_replace) {
    constexpr int kMostTried = 1000, kMostNumber = 99999;
    std::string stem = wanted.stem().string();
    int number = 1;
    if (const size_t dash = stem.find_last_of('-'); dash != std::string::npos && dash > 0) {
        int found = 0;
        const char* const end = stem.data() + stem.size();
        const auto read = std::from_chars(stem.data() + dash + 1, end, found);
        if (read.ec == std::errc() && read.ptr == end && found > 1 && found < kMostNumber) {
            number = found;
            stem.resize(dash);
        }
    }
    fs::path tried = wanted;
    for (int i = 1; i <= kMostTried; ++i) {
        std::error_code ignored;
        if (!fs::exists(tried, ignored) || (may_replace && may_replace(tried))) return tried;
        tried.replace_filename(
            fmt::format("{}-{}{}", stem, number + i, wanted.extension().string()));
    }
    return {};
}

}  // namespace aft

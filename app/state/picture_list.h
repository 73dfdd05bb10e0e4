// A list of examples as it is typed and copied: "0-7, 12". Any thread; pure.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace aft::app {

inline constexpr size_t kMostPictures = 64;

// Indices from 0 and ranges of them, with commas or blanks between; none twice, in the order in
// which they are named. Error that says what was found and what is allowed.
[[nodiscard]] std::vector<int64_t> parse_picture_list(std::string_view text);
// Runs of three and more as a range. separator: between two of them.
[[nodiscard]] std::string picture_list_words(std::span<const int64_t> list,
                                             std::string_view separator = ", ");

}  // namespace aft::app

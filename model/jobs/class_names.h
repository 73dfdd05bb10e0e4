// The names of a classifier's classes, from a file of the user's. No LibTorch. Any thread; blocks
// on the file.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace aft {

// One a line, by the labels. usage Error, with the line, where they are not `count` different names
// of 1 to 200 bytes of UTF-8 without control characters.
[[nodiscard]] std::vector<std::string> read_class_names(const std::string& file, int64_t count);

}  // namespace aft

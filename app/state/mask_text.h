// A mask as text: the lengths of runs of what is known and what is to be filled, in turn. Pure; any
// thread.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace aft::app {

// [height, width], 1 = to be filled: "512 512" is the lower half of 32 x 32.
[[nodiscard]] std::string mask_text(const std::vector<uint8_t>& mask);
// Error "mask: ..." with what was found and what is allowed.
[[nodiscard]] std::vector<uint8_t> mask_of_text(const std::string& text, int64_t height,
                                                int64_t width);

}  // namespace aft::app

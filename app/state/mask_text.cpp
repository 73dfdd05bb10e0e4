#include "app/state/mask_text.h"

#include <charconv>
#include <string_view>

#include "core/check.h"
#include "core/outside.h"

namespace aft::app {

std::string mask_text(const std::vector<uint8_t>& mask) {
    std::string text;
    uint8_t value = 0;
    for (size_t begin = 0; begin < mask.size();) {
        size_t end = begin;
        while (end < mask.size() && (mask[end] != 0) == (value != 0)) ++end;
        text += (text.empty() ? "" : " ") + std::to_string(end - begin);
        begin = end;
        value ^= 1;
    }
    return text;
}

std::vector<uint8_t> mask_of_text(const std::string& text, int64_t height, int64_t width) {
    const auto size = static_cast<size_t>(height * width);
    const auto refuse = [&] {
        fail("mask: found '{}', allowed: run lengths of 0 and 1 in turn that sum to {} x {}",
             printable_line(std::string_view(text).substr(0, 40)), height, width);
    };
    std::vector<uint8_t> mask;
    const char *at = text.data(), *const end = text.data() + text.size();
    for (uint8_t value = 0; at < end; value ^= 1) {
        size_t count = 0;
        const auto [next, error] = std::from_chars(at, end, count);
        if (error != std::errc() || count > size - mask.size()) refuse();
        mask.insert(mask.end(), count, value);
        at = next;
        if (at < end && *at++ != ' ') refuse();
    }
    if (mask.size() != size) refuse();
    return mask;
}

}  // namespace aft::app

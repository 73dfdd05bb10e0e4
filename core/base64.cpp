#include "core/base64.h"

#include <cstdint>

namespace aft {

std::string base64(std::string_view bytes) {
    static constexpr char kLetters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    out.reserve((bytes.size() + 2) / 3 * 4);
    for (size_t i = 0; i < bytes.size(); i += 3) {
        const size_t left = bytes.size() - i;
        const auto at = [&](size_t n) {
            return n < left ? uint32_t{static_cast<uint8_t>(bytes[i + n])} : uint32_t{0};
        };
        const uint32_t word = at(0) << 16U | at(1) << 8U | at(2);
        out += kLetters[word >> 18U & 63U];
        out += kLetters[word >> 12U & 63U];
        out += left > 1 ? kLetters[word >> 6U & 63U] : '=';
        out += left > 2 ? kLetters[word & 63U] : '=';
    }
    return out;
}

}  // namespace aft

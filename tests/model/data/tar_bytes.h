// Tar archives by hand, also broken ones. Tests only.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>

namespace aft {

struct TarEntryBytes {
    std::string name{}, content{};
    char type = '0';     // 0 file, 1 hard link, 2 symbolic link, 5 folder, x pax header
    std::string link{};  // what a link points to
    int64_t size = -1;   // that the header says; -1: the content's
};

// A header of ustar and the padded content.
inline std::string tar_bytes(const TarEntryBytes& entry) {
    const auto octal = [](int64_t value, size_t width) {
        std::string digits(width - 1, '0');
        for (size_t i = width - 1; i-- > 0; value /= 8)
            digits[i] = static_cast<char>('0' + value % 8);
        return digits + '\0';
    };
    std::string block(512, '\0');
    const auto set = [&](size_t at, const std::string& text) {
        block.replace(at, text.size(), text);
    };
    const int64_t size = entry.size < 0 ? static_cast<int64_t>(entry.content.size()) : entry.size;
    set(0, entry.name.substr(0, 100));
    set(100, octal(0644, 8));
    set(108, octal(0, 8));
    set(116, octal(0, 8));
    set(124, octal(size, 12));
    set(136, octal(0, 12));
    set(148, std::string(8, ' '));
    block[156] = entry.type;
    set(157, entry.link.substr(0, 100));
    set(257, std::string("ustar\00000", 8));
    int64_t sum = 0;
    for (const char c : block) sum += static_cast<uint8_t>(c);
    set(148, octal(sum, 7) + ' ');
    const size_t padding = (512 - entry.content.size() % 512) % 512;
    return block + entry.content + std::string(padding, '\0');
}

// A pax header that names the member behind it.
inline std::string pax_path(const std::string& path) {
    const std::string rest = " path=" + path + "\n";
    size_t length = rest.size() + 1;
    while (std::to_string(length).size() + rest.size() != length) ++length;
    return tar_bytes({.name = "pax", .content = std::to_string(length) + rest, .type = 'x'});
}

inline std::string tar_end() {
    return std::string(1024, '\0');
}

}  // namespace aft

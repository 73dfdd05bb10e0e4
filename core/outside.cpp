#include "core/outside.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace aft {
namespace {

constexpr size_t kMostShown = 80;  // characters of a text in a message

struct Character {
    char32_t code = 0;
    size_t bytes = 1;
    bool is_valid = false;
};

// The character at the start of `text`, which is not empty; overlong forms and surrogates are not
// valid.
Character first_character(std::string_view text) {
    const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
    const uint8_t lead = byte(0);
    if (lead < 0x80) return {lead, 1, true};
    const size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return {lead, 1, false};
    char32_t code = lead & (0x7fU >> bytes);
    for (size_t i = 1; i < bytes; ++i) {
        if ((byte(i) & 0xc0) != 0x80) return {lead, 1, false};
        code = code << 6 | (byte(i) & 0x3fU);
    }
    const char32_t least = bytes == 4 ? 0x10000 : bytes == 3 ? 0x800 : 0x80;
    const bool is_surrogate = code >= 0xd800 && code <= 0xdfff;
    if (code < least || code > 0x10ffff || is_surrogate) return {lead, 1, false};
    return {code, bytes, true};
}

bool is_control(char32_t code) {
    if (code < 0x20 || (code >= 0x7f && code <= 0x9f)) return true;
    const bool turns = (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) ||
                       code == 0x200e || code == 0x200f;
    return turns || code == 0x2028 || code == 0x2029;  // line and paragraph separators
}

void append_escape(std::string& out, const Character& character) {
    if (character.code == '\n') {
        out += "\\n";
    } else if (character.code == '\t') {
        out += "\\t";
    } else if (character.code <= 0xff) {
        out += fmt::format("\\x{:02x}", static_cast<uint32_t>(character.code));
    } else {
        out += fmt::format("\\u{:04x}", static_cast<uint32_t>(character.code));
    }
}

bool needs_escape(const Character& character, bool keep_lines) {
    const bool is_line = character.code == '\n' || character.code == '\t';
    return !character.is_valid || (is_control(character.code) && !(keep_lines && is_line));
}

bool is_printable(std::string_view text) {
    while (!text.empty()) {
        const Character character = first_character(text);
        if (needs_escape(character, /*keep_lines=*/true)) return false;
        text.remove_prefix(character.bytes);
    }
    return true;
}

// Up to `most` characters of it.
std::string escaped(std::string_view text, bool keep_lines, size_t most) {
    std::string out;
    size_t count = 0;
    while (!text.empty() && count++ < most) {
        const Character character = first_character(text);
        if (needs_escape(character, keep_lines))
            append_escape(out, character);
        else
            out += text.substr(0, character.bytes);
        text.remove_prefix(character.bytes);
    }
    return text.empty() ? out : out + "...";
}

}  // namespace

std::string printable(std::string_view text) {
    return escaped(text, /*keep_lines=*/true, text.size());
}

std::string printable_line(std::string_view text) {
    return escaped(text, /*keep_lines=*/false, text.size());
}

PrintableText::PrintableText(std::string_view text) : text_(text) {
    if (is_printable(text)) return;
    escaped_ = printable(text);
    text_ = escaped_;
}

std::string shown(std::string_view text) {
    return escaped(text, /*keep_lines=*/false, kMostShown);
}

std::string shown_path(const std::string& path) {
    constexpr size_t kMost = 255;
    if (path.size() <= kMost) return printable_line(path);
    return "..." + printable_line(std::string_view(path).substr(path.size() - kMostShown));
}

std::string shown_names(const std::vector<std::string>& names) {
    constexpr size_t kMost = 10;
    std::string out;
    for (size_t i = 0; i < std::min(names.size(), kMost); ++i)
        out += (i == 0 ? "" : ", ") + shown(names[i]);
    if (names.size() > kMost) out += fmt::format(" and {} more", names.size() - kMost);
    return out;
}

}  // namespace aft

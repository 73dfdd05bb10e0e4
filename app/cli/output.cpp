#include "app/cli/output.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>

#include "core/check.h"
#include "core/json.h"
#include "core/outside.h"

namespace aft::app {
namespace {

using nlohmann::json;

bool is_plain(const json& value) {
    return !value.is_structured();
}

// Numbers in the nine digits that tell every float32 apart; all of them are in the JSON.
std::string plain_words(const json& value) {
    if (value.is_number_float() && std::isfinite(value.get<double>()))
        return fmt::format("{:.9g}", value.get<double>());
    return printable_line(value.is_string() ? value.get<std::string>() : json_text(value));
}

// [1, 2, 3] on one line; long lists show their beginning.
std::string list_words(const json& list) {
    constexpr size_t kShown = 12;
    std::string words;
    for (size_t i = 0; i < list.size() && i < kShown; ++i) {
        words += (i == 0 ? "" : " ") + plain_words(list[i]);
    }
    if (list.size() > kShown) words += fmt::format(" ... ({} values)", list.size());
    return words;
}

void append_words(std::string& out, const json& value, const std::string& indent);

void append_entry(std::string& out, const std::string& name, const json& value,
                  const std::string& indent) {
    const bool flat_list =
        value.is_array() &&
        std::all_of(value.begin(), value.end(), [](const json& v) { return is_plain(v); });
    if (is_plain(value)) {
        out += fmt::format("{}{}: {}\n", indent, printable_line(name), plain_words(value));
    } else if (flat_list) {
        out += fmt::format("{}{}: {}\n", indent, printable_line(name), list_words(value));
    } else {
        out += fmt::format("{}{}:\n", indent, printable_line(name));
        append_words(out, value, indent + "  ");
    }
}

// One line for an object of plain values inside a list: "name w, shape 4 4".
std::string row_words(const json& row) {
    std::string words;
    for (const auto& [key, value] : row.items()) {
        words += fmt::format("{}{} {}", words.empty() ? "" : ", ", printable_line(key),
                             value.is_array() ? list_words(value) : plain_words(value));
    }
    return words;
}

void append_words(std::string& out, const json& value, const std::string& indent) {
    if (value.is_object()) {
        for (const auto& [key, entry] : value.items()) append_entry(out, key, entry, indent);
    } else if (value.is_array()) {
        for (const json& entry : value) {
            out += indent + (entry.is_object() ? row_words(entry) : plain_words(entry)) + "\n";
        }
    } else {
        out += indent + plain_words(value) + "\n";
    }
}

}  // namespace

void print_result(const std::string& given) {
    // Into a file or a pipe everything goes as it is.
    const std::string text = isatty(STDOUT_FILENO) != 0 ? printable(given) : given;
    const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
    if (written && std::fflush(stdout) == 0) return;
    constexpr int kReaderLeft = 128 + SIGPIPE;  // `afterimage list | head`: no reason to complain
    if (errno == EPIPE) std::_Exit(kReaderLeft);
    fail("standard output cannot be written: {}", std::strerror(errno));
}

void print_json(const json& value) {
    // In ASCII: escapes read back the same, and no character from outside reaches a terminal.
    constexpr bool kAscii = true;
    print_result(value.dump(2, ' ', kAscii, json::error_handler_t::replace) + "\n");
}

void print_words(const json& value) {
    std::string out;
    append_words(out, value, "");
    print_result(out);
}

void print_result(const json& value, bool as_json) {
    if (as_json) {
        print_json(value);
    } else {
        print_words(value);
    }
}

void print_note(const std::string& text) {
    fmt::print(stderr, "{}\n", printable(text));
}

}  // namespace aft::app

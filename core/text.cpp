#include "core/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <numeric>

#include "core/outside.h"

namespace aft {
namespace {

constexpr const char* kMinus = "\u2212";

// True if v prints as zero with this many decimals.
bool rounds_to_zero(const std::string& digits) {
    return digits.find_first_of("123456789") == std::string::npos;
}

std::string non_finite(double v) {
    if (std::isnan(v)) return "NaN";
    return v > 0 ? "+\u221e" : std::string(kMinus) + "\u221e";
}

size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), size_t{0});
    for (size_t i = 1; i <= a.size(); ++i) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b.size(); ++j) {
            const size_t change = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, change});
        }
    }
    return row[b.size()];
}

}  // namespace

std::string group_thousands(int64_t n) {
    std::string digits = std::to_string(n);
    const bool negative = digits[0] == '-';
    if (negative) digits.erase(0, 1);
    for (auto place = static_cast<int64_t>(digits.size()) - 3; place > 0; place -= 3)
        digits.insert(static_cast<size_t>(place), 1, ' ');
    return (negative ? kMinus : "") + digits;
}

// The digits before the point.
static std::string grouped(const std::string& digits) {
    const size_t point = std::min(digits.find('.'), digits.size());
    return group_thousands(std::stoll(digits.substr(0, point))) + digits.substr(point);
}

std::string plain_number(double v, int decimals) {
    if (!std::isfinite(v)) return non_finite(v);
    const std::string digits = fmt::format("{:.{}f}", std::abs(v), decimals);
    return (v < 0 && !rounds_to_zero(digits) ? kMinus : "") + digits;
}

std::string signed_number(double v, int decimals) {
    if (!std::isfinite(v)) return non_finite(v);
    const std::string digits = fmt::format("{:.{}f}", std::abs(v), decimals);
    if (rounds_to_zero(digits)) return digits;
    return (v < 0 ? kMinus : "+") + digits;
}

// With so many decimals.
static std::string with_exponent(double v, int decimals) {
    const std::string digits = fmt::format("{:.{}e}", std::abs(v), decimals);
    const size_t exponent_at = digits.find('e');
    const int exponent = std::stoi(digits.substr(exponent_at + 1));
    return fmt::format("{}{}e{}{}", v < 0 ? kMinus : "", digits.substr(0, exponent_at),
                       exponent < 0 ? kMinus : "", std::abs(exponent));
}

std::string stored_value(double v) {
    if (!std::isfinite(v)) return non_finite(v);
    const double size = std::abs(v);
    // At most seven digits: a large value needs no fourth decimal.
    if (size >= 9999.5 && size < 999999.5) {
        const int64_t whole = std::llround(v);
        return group_thousands(whole);
    }
    if (size >= 999.995 && size < 9999.5)
        return (v < 0 ? kMinus : "") + grouped(fmt::format("{:.2f}", size));
    if (size == 0 || (size >= 0.01 && size < 1e6)) return plain_number(v, size < 100 ? 4 : 2);
    return with_exponent(v, 3);
}

std::string scientific(double v, int decimals) {
    if (!std::isfinite(v)) return non_finite(v);
    std::string words = with_exponent(v, decimals);
    if (decimals == 0) return words;
    // No zeros at the end.
    const size_t end = words.find('e');
    size_t last = words.find_last_not_of('0', end - 1);
    if (words[last] == '.') --last;
    return words.erase(last + 1, end - last - 1);
}

std::string significant(double v, int digits) {
    if (!std::isfinite(v)) return non_finite(v);
    const double size = std::abs(v);
    if (size != 0 && (size < 1e-4 || size >= 999999.5)) return scientific(v, digits - 1);
    const bool is_long = size >= std::pow(10, digits);  // %g would have an exponent
    return (v < 0 ? kMinus : "") +
           grouped(is_long ? fmt::format("{:.0f}", size) : fmt::format("{:.{}g}", size, digits));
}

std::string counted_unit(std::string_view unit, bool is_one) {
    const bool is_ratio = unit.find('/') != std::string_view::npos;
    if (is_one && unit.size() > 2 && unit.ends_with('s') && !is_ratio)
        unit.remove_suffix(unit.ends_with("ches") ? 2 : 1);
    return std::string(unit);
}

std::string duration(double seconds) {
    if (!std::isfinite(seconds)) return "unknown";
    if (seconds < 0.9995) return fmt::format("{:.0f} ms", std::max(0.0, seconds) * 1000);
    if (seconds < 9.95) return fmt::format("{:.1f} s", seconds);
    const auto whole = static_cast<int64_t>(std::llround(seconds));
    if (whole < 60) return fmt::format("{} s", whole);
    if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
    if (whole < 86400) return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
    return fmt::format("{} d {} h", whole / 86400, whole % 86400 / 3600);
}

std::string byte_size(double bytes) {
    const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;
    while (std::abs(bytes) >= 1023.95 && unit < 4) {
        bytes /= 1024;
        ++unit;
    }
    return fmt::format("{:.{}f} {}", bytes, unit == 0 ? 0 : 1, units[unit]);
}

std::string nearest_word(std::string_view word, const std::vector<std::string>& words) {
    // no word of ours is as long, and the search takes their product
    constexpr size_t kLongest = 200;
    if (word.size() > kLongest) return {};
    std::string best;
    size_t best_distance = std::max<size_t>(2, word.size() / 3) + 1;
    for (const std::string& candidate : words) {
        const size_t distance = edit_distance(word, candidate);
        if (distance >= best_distance || distance >= candidate.size()) continue;
        best = candidate;
        best_distance = distance;
    }
    return best;
}

std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> parts;
    size_t start = 0;
    while (true) {
        const size_t end = text.find(separator, start);
        parts.emplace_back(text.substr(start, end - start));
        if (end == std::string_view::npos) return parts;
        start = end + 1;
    }
}

std::string exact_number(float v) {
    return fmt::format("{}", v);
}

std::string exact_number(double v) {
    const auto narrow = static_cast<float>(v);
    return static_cast<double>(narrow) == v ? exact_number(narrow) : fmt::format("{}", v);
}

std::string shell_word(std::string_view word) {
    const auto is_plain = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
               std::string_view("_-./:=,+@%").find(c) != std::string_view::npos;
    };
    if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain)) return std::string(word);
    std::string out = "'";
    for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + "'";
}

std::string plain_json_error(std::string_view what) {
    const size_t end = what.starts_with('[') ? what.find("] ") : std::string_view::npos;
    return std::string(end == std::string_view::npos ? what : what.substr(end + 2));
}

std::string xml_text(std::string_view words) {
    std::string out;
    for (const char c : words) {
        if (c == '&')
            out += "&amp;";
        else if (c == '<')
            out += "&lt;";
        else if (c == '>')
            out += "&gt;";
        else if (c == '"')
            out += "&quot;";
        else if (static_cast<uint8_t>(c) >= 0x20 && c != 0x7F)
            out += c;
    }
    return out;
}

std::string aligned_table(std::vector<std::vector<std::string>> rows, size_t right) {
    std::vector<size_t> widths;
    for (auto& row : rows) {
        widths.resize(std::max(widths.size(), row.size()));
        for (size_t i = 0; i < row.size(); ++i) {
            row[i] = printable_line(row[i]);
            widths[i] = std::max(widths[i], row[i].size());
        }
    }
    std::string out;
    for (const auto& row : rows) {
        std::string line = " ";
        for (size_t i = 0; i < row.size(); ++i)
            line += i < right ? fmt::format(" {:<{}} ", row[i], widths[i])
                              : fmt::format(" {:>{}} ", row[i], widths[i]);
        line.erase(line.find_last_not_of(' ') + 1);
        out += line + "\n";
    }
    return out;
}

}  // namespace aft

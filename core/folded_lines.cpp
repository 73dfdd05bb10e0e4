#include "core/folded_lines.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "core/outside.h"

namespace aft {
namespace {

using NumberedName = FoldedLines::NumberedName;
using Line = FoldedLines::Line;

NumberedName numbered(const std::string& name) {
    constexpr size_t kMostDigits = 6;
    for (size_t begin = 0; begin < name.size();) {
        const size_t end = std::min(name.find('.', begin), name.size());
        const std::string piece = name.substr(begin, end - begin);
        const bool is_number = !piece.empty() && piece.size() <= kMostDigits &&
                               std::all_of(piece.begin(), piece.end(),
                                           [](unsigned char c) { return std::isdigit(c); });
        if (is_number) return {name.substr(0, begin), name.substr(end), std::stoll(piece)};
        begin = end + 1;
    }
    return {.head = name};
}

bool differ_in_numbers_alone(const Line& a, const Line& b) {
    if (a.rest != b.rest || a.names.size() != b.names.size()) return false;
    for (size_t i = 0; i < a.names.size(); ++i) {
        const NumberedName &one = a.names[i], &other = b.names[i];
        if (one.head != other.head || one.tail != other.tail) return false;
        if ((one.number < 0) != (other.number < 0)) return false;
        // Layer 3 of theirs is layer 3 of ours in all of them, or none of them are one line.
        const NumberedName &first = a.names.front(), &now = b.names.front();
        if (first.number >= 0 && one.number >= 0 &&
            one.number - first.number != other.number - now.number)
            return false;
    }
    return true;
}

// "0..11", "0..3, 6"
std::string ranges_of(std::vector<int64_t> numbers) {
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    std::vector<std::string> ranges;
    for (size_t i = 0; i < numbers.size();) {
        size_t last = i;
        while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
        ranges.push_back(last == i ? std::to_string(numbers[i])
                                   : fmt::format("{}..{}", numbers[i], numbers[last]));
        i = last + 1;
    }
    return fmt::format("{}", fmt::join(ranges, ", "));
}

std::string words_of(const NumberedName& name, const std::vector<int64_t>& numbers) {
    if (name.number < 0) return printable_line(name.head);
    const std::string all = ranges_of(numbers);
    const bool is_one = all.find_first_not_of("0123456789") == std::string::npos;
    return printable_line(name.head) + (is_one ? all : "{" + all + "}") + printable_line(name.tail);
}

}  // namespace

void FoldedLines::add(const std::vector<std::string>& names, std::string rest) {
    Line line{.names = {}, .rest = std::move(rest), .numbers = {}};
    for (const std::string& name : names) {
        line.names.push_back(numbered(name));
        line.numbers.push_back({line.names.back().number});
    }
    const auto same = std::find_if(lines_.begin(), lines_.end(), [&](const Line& other) {
        return !every_tensor_ && differ_in_numbers_alone(other, line);
    });
    if (same == lines_.end()) return lines_.push_back(std::move(line));
    for (size_t i = 0; i < line.names.size(); ++i) same->numbers[i].push_back(line.names[i].number);
}

std::vector<std::string> FoldedLines::lines() const {
    std::vector<std::string> out;
    for (const Line& line : lines_) {
        std::vector<std::string> names;
        for (size_t i = 0; i < line.names.size(); ++i)
            names.push_back(words_of(line.names[i], line.numbers[i]));
        out.push_back(fmt::format("{}{}", fmt::join(names, " -> "), line.rest));
    }
    return out;
}

std::string FoldedLines::words() const {
    std::string words;
    for (const std::string& line : lines()) words += "  " + line + "\n";
    return words;
}

std::vector<std::string> folded_lines(const std::vector<std::string>& names) {
    FoldedLines folded;
    for (const std::string& name : names) {
        const size_t end = std::min(name.find(' '), name.size());
        folded.add({name.substr(0, end)}, printable_line(name.substr(end)));
    }
    return folded.lines();
}

std::string folded_names(const std::vector<std::string>& names, size_t most) {
    std::vector<std::string> lines = folded_lines(names);
    const size_t more = lines.size() - std::min(lines.size(), most);
    lines.resize(lines.size() - more);
    return fmt::format("{}{}", fmt::join(lines, ", "),
                       more > 0 ? fmt::format(" (and {} more)", more) : "");
}

}  // namespace aft

#include "app/cli/import_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <vector>

#include "core/outside.h"
#include "core/text.h"

namespace aft::app {
namespace {

// A name around its first whole number, the layer's: "blocks.", 3, ".norm1.weight".
struct NumberedName {
    std::string head{}, tail{};
    int64_t number = -1;  // none: all of it is the head
};

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

// One line, or several that differ in their numbers alone.
struct Line {
    std::vector<NumberedName> names{};          // of the first of them
    std::string rest{};                         // behind the names
    std::vector<std::vector<int64_t>> numbers;  // of each name, in all of them
};

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

class Lines {
  public:
    explicit Lines(bool every_tensor) : every_tensor_(every_tensor) {}

    void add(const std::vector<std::string>& names, std::string rest) {
        Line line{.names = {}, .rest = std::move(rest), .numbers = {}};
        for (const std::string& name : names) {
            line.names.push_back(numbered(name));
            line.numbers.push_back({line.names.back().number});
        }
        const auto same = std::find_if(lines_.begin(), lines_.end(), [&](const Line& other) {
            return !every_tensor_ && differ_in_numbers_alone(other, line);
        });
        if (same == lines_.end()) return lines_.push_back(std::move(line));
        for (size_t i = 0; i < line.names.size(); ++i)
            same->numbers[i].push_back(line.names[i].number);
    }

    [[nodiscard]] std::string words() const {
        std::string words;
        for (const Line& line : lines_) {
            std::vector<std::string> names;
            for (size_t i = 0; i < line.names.size(); ++i)
                names.push_back(words_of(line.names[i], line.numbers[i]));
            words += fmt::format("  {}{}\n", fmt::join(names, " -> "), line.rest);
        }
        return words;
    }

  private:
    bool every_tensor_;
    std::vector<Line> lines_;
};

std::string shape_words(const std::vector<int64_t>& shape) {
    return shape.empty() ? "" : fmt::format(" [{}]", fmt::join(shape, ", "));
}

}  // namespace

std::string import_words(const ImportResult& result, bool every_tensor) {
    std::string words =
        fmt::format("{} as {}: {}\n", printable_line(result.file), printable_line(result.importer),
                    printable_line(result.sentence));
    if (!result.prefix.empty())
        words += fmt::format("taken: what lies under '{}'\n", printable_line(result.prefix));
    Lines mapped(every_tensor);
    for (const ImportedTensor& row : result.mapped)
        mapped.add({row.from, row.to},
                   shape_words(row.shape) + (row.how.empty() ? "" : ", " + row.how));
    words += "mapped:\n" + mapped.words();
    for (const auto& [title, rows] :
         {std::pair{"dropped", &result.dropped}, std::pair{"new", &result.fresh}}) {
        Lines named(every_tensor);
        for (const NamedReason& row : *rows)
            named.add({row.name}, shape_words(row.shape) + ": " + printable_line(row.why));
        words += fmt::format("{}:{}\n{}", title, rows->empty() ? " nothing" : "", named.words());
    }
    words += fmt::format("{}, {} parameters\n", result.model, group_thousands(result.parameters));
    for (const std::string& note : result.notes)
        words += fmt::format("note: {}\n", printable_line(note));
    words += result.out.empty() ? "nothing written (--dry-run)\n"
                                : fmt::format("written: {}\n", printable_line(result.out));
    return words;
}

}  // namespace aft::app

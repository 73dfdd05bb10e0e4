#include "model/jobs/pack_names.h"

#include <algorithm>

#include "core/check.h"
#include "core/files.h"
#include "core/outside.h"

namespace aft {
namespace {

bool is_decimal_digit(char c) {
    return c >= '0' && c <= '9';
}

[[noreturn]] void fail_pattern(const std::string& out, const std::string& why) {
    fail_usage("-o '{}': {}; write for example 'out/train-%05d.tar' or 'out/train-*.tar'",
               shown_path(out), why);
}

// The place of the number in a file's name.
struct NumberPlace {
    size_t begin = std::string::npos, end = 0;
    int64_t digits = 0;
};

NumberPlace find_number(const std::string& name, const std::string& out) {
    constexpr int64_t kDigitsOfStar = 5;
    const size_t mark = name.find_first_of("*%");
    if (mark == std::string::npos) fail_pattern(out, "the file's name has no number (%05d or *)");
    NumberPlace place{.begin = mark, .end = mark + 1, .digits = kDigitsOfStar};
    if (name[mark] == '%') {
        const bool has_digits = name.size() > mark + 3 && name[mark + 1] == '0' &&
                                is_decimal_digit(name[mark + 2]) && name[mark + 2] != '0';
        place.digits = has_digits ? name[mark + 2] - '0' : 0;
        place.end = mark + (has_digits ? 4 : 2);
        if (place.end > name.size() || name[place.end - 1] != 'd')
            fail_pattern(out, "after % only d and 01d to 09d are known");
    }
    if (name.find_first_of("*%?[]", place.end) != std::string::npos ||
        name.find_first_of("?[]") < mark)
        fail_pattern(out, "the file's name has more than one number or pattern");
    return place;
}

}  // namespace

std::string ShardPattern::file(int64_t number) const {
    std::string text = std::to_string(number);
    const auto least = static_cast<size_t>(digits);
    if (text.size() < least) text.insert(0, least - text.size(), '0');
    return before + text + after;
}

std::string ShardPattern::glob() const {
    return (folder / (before + "*" + after)).string();
}

bool ShardPattern::fits(const std::string& name) const {
    if (name.size() <= before.size() + after.size() || !name.starts_with(before) ||
        !name.ends_with(after))
        return false;
    return std::all_of(name.begin() + static_cast<std::ptrdiff_t>(before.size()),
                       name.end() - static_cast<std::ptrdiff_t>(after.size()), is_decimal_digit);
}

int64_t ShardPattern::most_shards() const {
    int64_t most = 10;
    for (int64_t i = 1; i < digits; ++i) most *= 10;
    return most;
}

ShardPattern parse_shard_pattern(const std::string& out) {
    const fs::path path = out;
    const std::string name = path.filename().string();
    if (path.extension() != ".tar") fail_pattern(out, "the name must end in .tar");
    if (printable_line(name) != name) fail_pattern(out, "the name has control characters");
    const NumberPlace place = find_number(name, out);
    ShardPattern pattern{.folder = path.has_parent_path() ? path.parent_path() : fs::path("."),
                         .before = name.substr(0, place.begin),
                         .after = name.substr(place.end),
                         .digits = place.digits};
    if (pattern.folder.string().find_first_of("*?[") != std::string::npos)
        fail_pattern(out, "the folder has *, ? or [, which a pattern that reads it cannot name");
    return pattern;
}

ShardPattern pattern_of_part(const ShardPattern& pattern, Split part) {
    if (part == Split::train) return pattern;
    constexpr std::string_view kTrain = "train";
    const std::string word = part == Split::validation ? "val" : "test";
    ShardPattern out = pattern;
    for (std::string* text : {&out.before, &out.after}) {
        const size_t at = text->find(kTrain);
        if (at == std::string::npos) continue;
        text->replace(at, kTrain.size(), word);
        return out;
    }
    fail_usage(
        "-o: there are pictures in several parts, but the file's name '{}' has no 'train' that "
        "gives way to 'val' and 'test'; or choose one part, as in images:DIR?split=train",
        shown(pattern.before + "*" + pattern.after));
}

std::vector<fs::path> shards_there(const ShardPattern& pattern) {
    std::vector<fs::path> found;
    std::error_code error;
    for (fs::directory_iterator it(pattern.folder, error), end; !error && it != end;
         it.increment(error))
        if (pattern.fits(it->path().filename().string())) found.push_back(it->path());
    std::sort(found.begin(), found.end());
    return found;
}

}  // namespace aft

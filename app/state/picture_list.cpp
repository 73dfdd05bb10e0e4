#include "app/state/picture_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/check.h"
#include "core/outside.h"

namespace aft::app {
namespace {

constexpr int64_t kMostPictureIndex = int64_t{1} << 30;
constexpr std::string_view kGaps = ", \t\n";

int64_t index_of(std::string_view word, std::string_view whole) {
    int64_t index = -1;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), index);
    if (error != std::errc() || end != word.data() + word.size() || index < 0 ||
        index > kMostPictureIndex)
        fail_usage("found '{}', allowed: indices from 0 and ranges, as in 0-7,12", shown(whole));
    return index;
}

// Every comma stands behind an index; the last one may end the list, as while it is typed.
void check_no_hole(std::string_view text) {
    bool is_behind_index = false;
    for (const char c : text) {
        if (c == ',' && !is_behind_index)
            fail_usage("found '{}', allowed: an index before each comma, as in 0-7,12",
                       shown(text));
        if (c == ',')
            is_behind_index = false;
        else if (kGaps.find(c) == std::string_view::npos)
            is_behind_index = true;
    }
}

}  // namespace

std::vector<int64_t> parse_picture_list(std::string_view text) {
    check_no_hole(text);
    std::vector<int64_t> list;
    for (size_t at = text.find_first_not_of(kGaps); at < text.size();
         at = text.find_first_not_of(kGaps, at)) {
        const size_t end = std::min(text.find_first_of(kGaps, at), text.size());
        const std::string_view word = text.substr(at, end - at);
        at = end;
        const size_t dash = word.find('-');
        const int64_t first = index_of(word.substr(0, dash), word);
        const int64_t last =
            dash == std::string_view::npos ? first : index_of(word.substr(dash + 1), word);
        if (last < first) fail_usage("found '{}', allowed: ranges that ascend", shown(word));
        for (int64_t index = first; index <= last; ++index) {
            if (std::find(list.begin(), list.end(), index) != list.end()) continue;
            if (list.size() == kMostPictures)
                fail_usage("found more than {}, allowed: 1 to {}", kMostPictures, kMostPictures);
            list.push_back(index);
        }
    }
    if (list.empty()) fail_usage("found none, allowed: 1 to {}", kMostPictures);
    return list;
}

std::string picture_list_words(std::span<const int64_t> list, std::string_view separator) {
    std::string words;
    for (size_t i = 0; i < list.size();) {
        size_t end = i + 1;
        while (end < list.size() && list[end] == list[end - 1] + 1) ++end;
        if (end - i < 3) end = i + 1;
        if (!words.empty()) words += separator;
        words +=
            end > i + 1 ? fmt::format("{}-{}", list[i], list[end - 1]) : fmt::format("{}", list[i]);
        i = end;
    }
    return words;
}

}  // namespace aft::app

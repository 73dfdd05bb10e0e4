#include "model/data/source.h"

#include <algorithm>
#include <charconv>

#include "core/check.h"
#include "core/data_spec.h"
#include "core/text.h"

namespace aft {
namespace {

std::string joined(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
    return text;
}

void parse_options(Spec& spec, std::string_view text) {
    if (text.empty()) return;
    for (const std::string& part : split(text, '&')) {
        const size_t equals = part.find('=');
        if (equals == std::string::npos || equals == 0 || equals + 1 == part.size())
            fail_usage("data '{}': option '{}' is not of the form key=value", spec.text, part);
        const bool added =
            spec.options.emplace(part.substr(0, equals), part.substr(equals + 1)).second;
        if (!added)
            fail_usage("data '{}': option '{}' is given twice", spec.text, part.substr(0, equals));
    }
}

void check_path(const Spec& spec, const SourceRoom& room) {
    if (room.path_kind.empty() && !spec.path.empty())
        fail_usage("data '{}': '{}' is made by the program and takes no path; found '{}'",
                   spec.text, spec.room, spec.path);
    if (!room.path_kind.empty() && spec.path.empty())
        fail_usage("data '{}': a {} is missing; write {}:{}", spec.text, room.path_kind, spec.room,
                   room.path_kind == "file" ? "FILE" : "DIR");
}

}  // namespace

const char* split_name(Split split) {
    switch (split) {
        case Split::train:
            return "train";
        case Split::validation:
            return "validation";
        case Split::test:
            return "test";
    }
    return "";
}

Split parse_split(const std::string& name) {
    for (const Split split : {Split::train, Split::validation, Split::test})
        if (name == split_name(split)) return split;
    fail_usage("unknown split '{}'; allowed: train, validation, test", name);
}

int64_t Spec::integer(const std::string& key, int64_t fallback, int64_t low, int64_t high) const {
    const auto found = options.find(key);
    if (found == options.end()) return fallback;
    const std::string& value = found->second;
    int64_t number = 0;
    const auto result = std::from_chars(value.data(), value.data() + value.size(), number);
    const bool whole = result.ec == std::errc() && result.ptr == value.data() + value.size();
    if (!whole || number < low || number > high)
        fail_usage("data '{}': {} is '{}'; allowed: whole numbers from {} to {}", text, key, value,
                   low, high);
    return number;
}

bool Spec::flag(const std::string& key, bool fallback) const {
    const auto found = options.find(key);
    if (found == options.end()) return fallback;
    const std::string& value = found->second;
    if (value == "1" || value == "true" || value == "on") return true;
    if (value == "0" || value == "false" || value == "off") return false;
    fail_usage("data '{}': {} is '{}'; allowed: 0, 1", text, key, value);
}

void Spec::allow(const std::vector<std::string>& keys) const {
    std::vector<std::string> known = keys;
    known.emplace_back("split");
    for (const auto& [key, value] : options) {
        if (std::find(known.begin(), known.end(), key) != known.end()) continue;
        const std::string near = nearest_word(key, known);
        fail_usage("data '{}': '{}' has no option '{}'{}; allowed: {}", text, room, key,
                   near.empty() ? "" : " (did you mean '" + near + "'?)", joined(known));
    }
    if (const auto split = options.find("split"); split != options.end())
        static_cast<void>(parse_split(split->second));
}

Spec parse_spec(const std::string& text) {
    Spec spec;
    spec.text = text;
    if (text.empty()) fail_usage("no data given; write for example mirror?size=16 or text:FILE");
    DataSpec parts = split_data_spec(text);
    spec.room = std::move(parts.room);
    spec.path = std::move(parts.path);
    if (!parts.options.empty()) parse_options(spec, std::string_view(parts.options).substr(1));
    return spec;
}

void check_folder(const Spec& spec, const std::filesystem::path& folder) {
    std::error_code error;
    if (std::filesystem::is_directory(folder, error)) return;
    std::string options;
    for (const auto& [key, value] : spec.options)
        options += (options.empty() ? "?" : "&") + key + "=" + value;
    fail("data '{}': no folder '{}'; say where the files are, as in --data '{}:DIR{}'", spec.text,
         folder.string(), spec.room, options);
}

Example DataSource::window(Split, int64_t, int64_t) const {
    fail("this data source holds pictures, not text: it has no windows");
}

bool has_option(const SourceRoom& room, const std::string& key) {
    for (const std::string& line : room.options)
        if (line.starts_with(key + "=")) return true;
    return false;
}

std::unique_ptr<DataSource> open_source(const Spec& given, uint64_t seed, int64_t text_length) {
    Spec spec = given;
    const SourceRoom& room = find_room(sources(), spec.room, "data source");
    check_path(spec, room);
    if (text_length > 0 && has_option(room, "length"))
        spec.options.emplace("length", std::to_string(text_length));
    return room.open(spec, seed);
}

std::unique_ptr<DataSource> open_source(const std::string& text, uint64_t seed,
                                        int64_t text_length) {
    return open_source(parse_spec(text), seed, text_length);
}

}  // namespace aft

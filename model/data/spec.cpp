// The data SPEC as text: NAME[:PATH][?option=value&...]. Knows no source.
#include <algorithm>
#include <charconv>

#include "core/check.h"
#include "core/data_spec.h"
#include "core/outside.h"
#include "core/text.h"
#include "model/data/source.h"

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
            fail_usage("data '{}': option '{}' is not of the form key=value", spec.text,
                       shown(part));
        const bool added =
            spec.options.emplace(part.substr(0, equals), part.substr(equals + 1)).second;
        if (!added)
            fail_usage("data '{}': option '{}' is given twice", spec.text,
                       shown(part.substr(0, equals)));
    }
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
    fail_usage("unknown split '{}'; allowed: train, validation, test", shown(name));
}

int64_t Spec::integer(const std::string& key, int64_t fallback, int64_t low, int64_t high) const {
    const auto found = options.find(key);
    if (found == options.end()) return fallback;
    const std::string& value = found->second;
    int64_t number = 0;
    const auto result = std::from_chars(value.data(), value.data() + value.size(), number);
    const bool whole = result.ec == std::errc() && result.ptr == value.data() + value.size();
    if (!whole || number < low || number > high)
        fail_usage("data '{}': {} is '{}'; allowed: whole numbers from {} to {}", text, key,
                   shown(value), low, high);
    return number;
}

double Spec::number(const std::string& key, double fallback, double low, double high) const {
    const auto found = options.find(key);
    if (found == options.end()) return fallback;
    const std::string& value = found->second;
    double number = 0;
    const auto result = std::from_chars(value.data(), value.data() + value.size(), number);
    const bool is_read = result.ec == std::errc() && result.ptr == value.data() + value.size();
    if (!is_read || !(number >= low && number <= high))
        fail_usage("data '{}': {} is '{}'; allowed: numbers from {} to {}", text, key, shown(value),
                   low, high);
    return number;
}

bool Spec::flag(const std::string& key, bool fallback) const {
    const auto found = options.find(key);
    if (found == options.end()) return fallback;
    const std::string& value = found->second;
    if (value == "1" || value == "true" || value == "on") return true;
    if (value == "0" || value == "false" || value == "off") return false;
    fail_usage("data '{}': {} is '{}'; allowed: 0, 1", text, key, shown(value));
}

void Spec::allow(const std::vector<std::string>& keys) const {
    std::vector<std::string> known = keys;
    known.emplace_back("split");
    for (const auto& [key, value] : options) {
        if (std::find(known.begin(), known.end(), key) != known.end()) continue;
        const std::string near = nearest_word(key, known);
        fail_usage("data '{}': '{}' has no option '{}'{}; allowed: {}", text, shown(room),
                   shown(key), near.empty() ? "" : " (did you mean '" + near + "'?)",
                   joined(known));
    }
    if (const auto split = options.find("split"); split != options.end())
        static_cast<void>(parse_split(split->second));
}

Spec parse_spec(const std::string& text, std::stop_token stop) {
    Spec spec;
    spec.stop = std::move(stop);
    spec.text = shown(text);
    if (text.empty()) fail_usage("no data given; write for example mirror?size=16 or text:FILE");
    DataSpec parts = split_data_spec(text);
    spec.room = std::move(parts.room);
    spec.path = std::move(parts.path);
    if (!parts.options.empty()) parse_options(spec, std::string_view(parts.options).substr(1));
    return spec;
}

}  // namespace aft

#include "core/settings.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/check.h"
#include "core/json.h"
#include "core/outside.h"
#include "core/text.h"

namespace aft {

namespace {

using Json = nlohmann::json;

// Shortest text that reads back as the same number.
std::string number_text(double v) {
    char buffer[40];
    const auto end = std::to_chars(buffer, buffer + sizeof(buffer), v).ptr;
    return {buffer, end};
}

std::optional<double> parse_double(std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || std::isnan(value)) return {};
    return value;
}

std::optional<int64_t> whole(double value) {
    if (std::nearbyint(value) != value || std::abs(value) > 0x1p53) return {};
    return static_cast<int64_t>(value);
}

std::optional<int64_t> parse_integer(std::string_view text) {
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc{} && end == text.data() + text.size()) return value;
    const auto number = parse_double(text);  // "1e3"
    return number ? whole(*number) : std::nullopt;
}

std::optional<bool> parse_bool(std::string_view text) {
    if (text == "true" || text == "on" || text == "1" || text == "yes") return true;
    if (text == "false" || text == "off" || text == "0" || text == "no") return false;
    return {};
}

struct ErrorContext {  // what an error message calls the value
    const Setting& row;
    std::string found;
    std::string where;  // "", or "FILE: "
};

[[noreturn]] void refuse(const ErrorContext& place, const char* expected) {
    fail_usage("{}{} is {}, found {}; {}", place.where, place.row.key, expected, place.found,
               allowed_text(place.row));
}

void check_range(const ErrorContext& place, double value) {
    if (!(value >= place.row.min && value <= place.row.max))
        fail_usage("{}{} = {} is out of range; {}", place.where, place.row.key, place.found,
                   allowed_text(place.row));
}

void store(const ErrorContext& place, std::optional<int64_t> value, int64_t& target) {
    if (!value) refuse(place, "a whole number");
    check_range(place, static_cast<double>(*value));
    target = *value;
}

void store(const ErrorContext& place, std::optional<double> value, double& target) {
    if (!value) refuse(place, "a number");
    check_range(place, *value);
    target = *value;
}

void store(const ErrorContext& place, std::optional<bool> value, bool& target) {
    if (!value) refuse(place, "true or false");
    target = *value;
}

void store(const ErrorContext& place, const std::optional<std::string>& value,
           std::string& target) {
    if (!value) refuse(place, "a text");
    const auto& choices = place.row.choices;
    if (!choices.empty() && std::find(choices.begin(), choices.end(), *value) == choices.end())
        fail_usage("{}{} = '{}' is not known; {}", place.where, place.row.key, shown(*value),
                   allowed_text(place.row));
    target = *value;
}

// A text that was a flag once: the text that the flag stands for.
template <class T>
std::optional<T> from_flag(const Setting& row, std::optional<bool> flag) {
    if constexpr (std::is_same_v<T, std::string>)
        if (flag && !row.if_true.empty()) return *flag ? row.if_true : row.if_false;
    return {};
}

template <class T>
std::optional<T> from_text(std::string_view text) {
    if constexpr (std::is_same_v<T, int64_t>) return parse_integer(text);
    if constexpr (std::is_same_v<T, double>) return parse_double(text);
    if constexpr (std::is_same_v<T, bool>) return parse_bool(text);
    if constexpr (std::is_same_v<T, std::string>) return std::string(text);
}

template <class T>
std::optional<T> from_json(const Json& json) {
    if constexpr (std::is_same_v<T, int64_t>) {
        if (json.is_number_integer() && json <= std::numeric_limits<int64_t>::max())
            return json.get<int64_t>();
        if (json.is_number_float()) return whole(json.get<double>());
    } else if constexpr (std::is_same_v<T, double>) {
        if (json.is_number()) return json.get<double>();
    } else if constexpr (std::is_same_v<T, bool>) {
        if (json.is_boolean()) return json.get<bool>();
    } else {
        if (json.is_string()) return json.get<std::string>();
    }
    return {};
}

// Whether the last part of `known` has that of `key` as a word, in the same group where `key` names
// one: "model.norm_eps" has "model.eps" and "eps".
bool has_word(std::string_view known, std::string_view key) {
    const size_t start = key.rfind('.') + 1;  // 0 without a dot
    const std::string word = fmt::format("_{}_", key.substr(start));
    const std::string name = fmt::format("_{}_", known.substr(known.rfind('.') + 1));
    return start < key.size() && known.starts_with(key.substr(0, start)) &&
           name.find(word) != std::string::npos;
}

// The nearest known key, as the end of an error message.
std::string suggestion(const SettingRows& rows, std::string_view key) {
    std::vector<std::string> keys;
    for (const Setting& row : rows) keys.push_back(row.key);
    std::string near = nearest_word(key, keys);
    const auto ends_with_key = [&](const std::string& known) {
        return known.size() > key.size() + 1 && known.ends_with(key) &&
               known[known.size() - key.size() - 1] == '.';
    };
    const auto word = std::find_if(keys.begin(), keys.end(),
                                   [&](const std::string& known) { return has_word(known, key); });
    if (const auto found = std::find_if(keys.begin(), keys.end(), ends_with_key);
        found != keys.end())
        near = *found;
    else if (word != keys.end() && near != fmt::format("{}s", key))  // no plural that was meant
        near = *word;
    return near.empty() ? "; --print-config lists all settings"
                        : fmt::format("; did you mean '{}'?", near);
}

void set_tree(SettingRows& rows, const Json& json, const std::string& prefix,
              const std::string& where) {
    for (const auto& item : json.items()) {
        const std::string& name = item.key();
        const Json& value = item.value();
        const std::string key = prefix.empty() ? name : prefix + "." + name;
        if (Setting* row = find_setting(rows, key)) {
            const ErrorContext place{*row, found_json(value), where + ": "};
            std::visit(
                [&](auto* target) {
                    using T = std::remove_reference_t<decltype(*target)>;
                    const auto flag = from_flag<T>(*row, from_json<bool>(value));
                    store(place, flag ? flag : from_json<T>(value), *target);
                },
                row->value);
            continue;
        }
        const auto is_group = [&](const Setting& r) { return r.key.starts_with(key + "."); };
        if (!std::any_of(rows.begin(), rows.end(), is_group))
            fail_usage("{}: unknown key '{}'{}", where, shown(key), suggestion(rows, key));
        if (!value.is_object())
            fail_usage("{}: '{}' is a group of settings, found {}", where, key, found_json(value));
        set_tree(rows, value, key, where);
    }
}

template <class T>
Setting row_of_number(const char* key, T* value, const char* help, SettingRange range) {
    return {.key = key,
            .value = value,
            .help = help,
            .min = range.min,
            .max = range.max,
            .choices = {},
            .live = range.live,
            .risky = range.risky,
            .unit = range.unit};
}

}  // namespace

Setting text_row(const char* key, std::string* value, const char* help,
                 std::vector<std::string> choices) {
    return {.key = key, .value = value, .help = help, .choices = std::move(choices), .unit = ""};
}

Setting flag_row(const char* key, bool* value, const char* help) {
    return {.key = key, .value = value, .help = help, .choices = {}, .unit = ""};
}

Setting number_row(const char* key, int64_t* value, const char* help, SettingRange range) {
    return row_of_number(key, value, help, range);
}

Setting number_row(const char* key, double* value, const char* help, SettingRange range) {
    return row_of_number(key, value, help, range);
}

void set_from_text(SettingRows& rows, std::string_view key, std::string_view text) {
    Setting* row = find_setting(rows, key);
    if (row == nullptr) fail_usage("unknown setting '{}'{}", shown(key), suggestion(rows, key));
    const ErrorContext place{*row, fmt::format("'{}'", shown(text)), ""};
    std::visit(
        [&](auto* target) {
            using T = std::remove_reference_t<decltype(*target)>;
            const auto flag = from_flag<T>(*row, parse_bool(text));
            store(place, flag ? flag : from_text<T>(text), *target);
        },
        row->value);
}

nlohmann::json settings_to_json(const SettingRows& rows) {
    Json root = Json::object();
    for (const Setting& row : rows) {
        Json* at = &root;
        for (const std::string& part : split(row.key, '.')) at = &(*at)[part];
        std::visit([&](auto* value) { *at = *value; }, row.value);
    }
    return root;
}

void settings_from_json(SettingRows& rows, const nlohmann::json& json, const std::string& where) {
    if (!json.is_object())
        fail_usage("{}: settings are a JSON object, found {}", where, found_json(json));
    set_tree(rows, json, "", where);
}

std::string value_text(const Setting& row) {
    return std::visit(
        [](auto* value) -> std::string {
            using T = std::remove_reference_t<decltype(*value)>;
            if constexpr (std::is_same_v<T, std::string>) return *value;
            if constexpr (std::is_same_v<T, bool>) return *value ? "true" : "false";
            if constexpr (std::is_same_v<T, double>) return number_text(*value);
            if constexpr (std::is_same_v<T, int64_t>) return std::to_string(*value);
        },
        row.value);
}

std::string allowed_text(const Setting& row) {
    if (!row.choices.empty()) {
        std::string all;
        for (const std::string& choice : row.choices) all += (all.empty() ? "" : ", ") + choice;
        return "allowed: " + all;
    }
    if (std::holds_alternative<bool*>(row.value)) return "allowed: true, false";
    if (std::holds_alternative<std::string*>(row.value)) return "allowed: any text";
    const bool low = std::isfinite(row.min), high = std::isfinite(row.max);
    const std::string kind = std::holds_alternative<int64_t*>(row.value) ? "whole numbers" : "";
    const auto join = [&](const std::string& range) {
        return "allowed: " + kind + (kind.empty() || range.empty() ? "" : " ") + range;
    };
    if (low && high) return join(number_text(row.min) + " to " + number_text(row.max));
    if (low) return join("at least " + number_text(row.min));
    if (high) return join("at most " + number_text(row.max));
    return kind.empty() ? "allowed: any number" : "allowed: " + kind;
}

Setting* find_setting(SettingRows& rows, std::string_view key) {
    const auto found =
        std::find_if(rows.begin(), rows.end(), [&](const Setting& row) { return row.key == key; });
    return found == rows.end() ? nullptr : &*found;
}

}  // namespace aft

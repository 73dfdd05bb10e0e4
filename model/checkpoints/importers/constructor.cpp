#include "model/checkpoints/importers/constructor.h"

#include <algorithm>

#include "core/check.h"
#include "core/json.h"
#include "core/outside.h"

namespace aft::imports {

namespace {

constexpr const char* kSettingsKey = "afterimage.settings";

using Texts = std::map<std::string, std::string>;

Texts settings_of(Config& config) {
    Texts all;
    for (const Setting& row : config.rows()) all[row.key] = value_text(row);
    return all;
}

// "img_size=({model.height}, {model.width})"; {} is the value itself.
std::string filled(std::string text, const std::string& value, const Texts& all) {
    const auto put = [&](const std::string& what, const std::string& by) {
        for (size_t at = text.find(what); at != std::string::npos;
             at = text.find(what, at + by.size()))
            text.replace(at, what.size(), by);
    };
    put("{}", value);
    for (const auto& [key, other] : all) put("{" + key + "}", other);
    return text;
}

// Whether an argument gives this value.
bool gives(const Argument& argument, const std::string& value) {
    return argument.values.empty() || argument.values.contains(value);
}

std::string known_values(const Argument& argument) {
    std::vector<std::string> names;
    for (const auto& [value, text] : argument.values) names.push_back(value);
    return shown_names(names);
}

}  // namespace

Assignments free_settings(const Mapping& mapping, Config config) {
    const Texts all = settings_of(config);
    Assignments out;
    for (const Argument& argument : mapping.constructor.arguments) {
        const auto found = all.find(argument.setting);
        if (found == all.end())
            fail_usage("{}: there is no setting '{}'", mapping.file, shown(argument.setting));
        if (!argument.is_free) continue;
        if (!gives(argument, found->second))
            fail("{}: no argument of {} gives {}={}; it has: {}", mapping.info.name,
                 mapping.constructor.name, argument.setting, found->second, known_values(argument));
        out.emplace_back(argument.setting, found->second);
    }
    return out;
}

std::string constructor_words(const Mapping& mapping, Config config) {
    if (mapping.constructor.name.empty()) return "";
    const Texts all = settings_of(config);
    std::string arguments, notes;
    for (const Argument& argument : mapping.constructor.arguments) {
        const std::string& value = all.at(argument.setting);
        const auto chosen = argument.values.find(value);
        const std::string text =
            filled(chosen != argument.values.end() ? chosen->second : argument.text, value, all);
        if (text.empty()) continue;
        if (argument.is_note)
            notes += "; " + text;
        else
            arguments += (arguments.empty() ? "" : ", ") + text;
    }
    return fmt::format("{}({}){}", mapping.constructor.name, arguments, notes);
}

void store_settings(TensorFile& file, const Assignments& settings) {
    if (settings.empty()) return;
    nlohmann::json object = nlohmann::json::object();
    for (const auto& [key, value] : settings) object[key] = value;
    file.metadata[kSettingsKey] = json_text(object);
}

Assignments with_stored(const TensorFile& file, const std::string& path, Assignments given) {
    const auto found = file.metadata.find(kSettingsKey);
    if (found == file.metadata.end()) return given;
    const std::string where = fmt::format("{}: {}", path, kSettingsKey);
    const nlohmann::json object = parse_json(found->second, {.file = where});
    if (!object.is_object()) fail("{}: an object is expected, found {}", where, found_json(object));
    Assignments out;
    for (const auto& [key, value] : object.items()) {
        if (!key.starts_with("model.") || !value.is_string())
            fail("{}: '{}': a text for a setting \"model.NAME\" is expected, found {}", where,
                 shown(key), found_json(value));
        const bool is_given = std::any_of(given.begin(), given.end(),
                                          [&](const auto& one) { return one.first == key; });
        if (!is_given) out.emplace_back(key, value.get<std::string>());
    }
    out.insert(out.end(), given.begin(), given.end());
    return out;
}

}  // namespace aft::imports

// Configs as JSON: files, presets, checkpoint metadata.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/caught.h"
#include "core/check.h"
#include "core/files.h"
#include "core/json.h"
#include "core/outside.h"
#include "core/text.h"
#include "model/config.h"
#include "model/run_name.h"

namespace aft {

namespace {

using Json = nlohmann::json;

constexpr const char* kMapsKey = "maps";  // of position biases alone, in place of the groups

Json parse_file(const fs::path& path) {
    return read_json_file(path, uint64_t{16} << 20, ErrorKind::usage);
}

std::string text_member(const Json& object, const char* key, const std::string& where) {
    const Json& value = object.at(key);
    if (!value.is_string()) fail_usage("{}: {} is a text, found {}", where, key, found_json(value));
    return value.get<std::string>();
}

// The keys that a config written by hand gives, but for those that stand at their default: what is
// printed or saved holds all of them.
std::vector<std::string> given_keys(const nlohmann::json& object, const Config& config) {
    Config standard, copy = config;  // rows point into a mutable object
    const SettingRows defaults = standard.rows(), rows = copy.rows();
    std::vector<std::string> keys;
    for (size_t i = 0; i < rows.size(); ++i) {
        const size_t dot = rows[i].key.find('.');
        const auto group = object.find(rows[i].key.substr(0, dot));
        const bool is_there = group != object.end() && group->is_object() &&
                              group->contains(rows[i].key.substr(dot + 1));
        if (is_there && value_text(rows[i]) != value_text(defaults[i])) keys.push_back(rows[i].key);
    }
    return keys;
}

fs::path preset_folder() {
    return shared_file("assets/presets");
}

}  // namespace

Config config_of_maps(MapsConfig maps) {
    Config config;
    config.model.task = config.model.mixer = "maps";
    config.model.layers = static_cast<int64_t>(maps.layers.size());
    config.model.dim = 0;
    const MapLayer longest = maps.longest();
    config.model.height = longest.height;
    config.model.width = longest.width;
    config.model.maps = std::move(maps);
    config.data.source = "";
    config.train.steps = 0;  // nothing here trains it
    return config;
}

nlohmann::json config_to_json(const Config& config) {
    if (!config.model.maps.layers.empty())
        return {{"name", config.name}, {"maps", maps_to_json(config.model.maps)}};
    Config copy = config;  // rows() points into a mutable object
    Json object = settings_to_json(copy.rows());
    object["name"] = config.name;
    return object;
}

Config config_from_json(const nlohmann::json& object, const std::string& where) {
    if (!object.is_object())
        fail_usage("{}: a config is a JSON object, found {}", where, found_json(object));
    Config config;
    Json settings = object;
    if (object.contains("name")) config.name = text_member(object, "name", where);
    if (const std::string problem = name_problem(config.name); !problem.empty())
        fail_usage("{}: {}", where, problem);
    if (object.contains("sentence")) static_cast<void>(text_member(object, "sentence", where));
    settings.erase("name");
    settings.erase("sentence");
    if (const auto maps = settings.find(kMapsKey); maps != settings.end()) {
        for (const auto& [key, value] : settings.items())
            if (key != kMapsKey)
                fail_usage("{}: key '{}' does not go with '{}'", where, shown(key), kMapsKey);
        Config of_maps = config_of_maps(maps_from_json(*maps, where + ": maps"));
        of_maps.name = config.name;
        return of_maps;
    }
    SettingRows rows = config.rows();
    settings_from_json(rows, settings, where);
    return config;
}

Config load_preset(const std::string& name) {
    std::vector<std::string> names;
    for (const PresetInfo& preset : list_presets()) names.push_back(preset.name);
    if (std::find(names.begin(), names.end(), name) == names.end()) {
        const std::string near = nearest_word(name, names);
        std::string known;
        for (const std::string& preset : names) known += (known.empty() ? "" : ", ") + preset;
        fail_usage("unknown preset '{}'{}; allowed: {}", shown(name),
                   near.empty() ? "" : fmt::format("; did you mean '{}'?", near), known);
    }
    const fs::path path = preset_folder() / (name + ".json");
    const Json object = parse_file(path);
    Config config = config_from_json(object, path.string());
    config.name = name;
    config.check();
    check_read(config, given_keys(object, config), path.string() + ": ");
    return config;
}

Config load_config_file(const std::string& path) {
    Config config = load_run_config(path);
    if (config.data.source.empty()) config.data.source = DataConfig().source;
    check_read(config, given_keys(parse_file(path), config), path + ": ");
    return config;
}

Config stored_config(const nlohmann::json& object, const std::string& where) {
    Config config = config_from_json(object, where);
    const auto data = object.find("data");
    if (data == object.end() || !data->contains("source")) config.data.source = "";
    return config;
}

Config load_run_config(const std::string& path) {
    const Json object = parse_file(path);
    Config config = stored_config(object, path);
    if (!object.contains("name")) config.name = fs::path(path).stem().string();
    with_context(path, [&] { config.check(); });
    return config;
}

std::vector<PresetInfo> list_presets() {
    std::vector<PresetInfo> presets;
    for (const auto& entry : fs::directory_iterator(preset_folder())) {
        if (entry.path().extension() != ".json") continue;
        const Json object = parse_file(entry.path());
        const std::string where = entry.path().string();
        if (!object.is_object() || !object.contains("sentence"))
            fail("{}: a preset has a 'sentence' that says what it is", where);
        presets.push_back({entry.path().stem().string(), text_member(object, "sentence", where)});
    }
    std::sort(presets.begin(), presets.end(),
              [](const PresetInfo& a, const PresetInfo& b) { return a.name < b.name; });
    return presets;
}

}  // namespace aft

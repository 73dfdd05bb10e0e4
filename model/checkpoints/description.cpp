#include "model/checkpoints/description.h"

#include <set>

#include "core/check.h"
#include "core/json.h"
#include "core/outside.h"

namespace aft {
namespace {

using nlohmann::json;

int64_t integer_at(const json& object, const char* key, int64_t fallback,
                   const std::string& where) {
    const auto found = object.find(key);
    if (found == object.end()) return fallback;
    if (!found->is_number_integer())
        fail("{}: key '{}' must be a whole number, found {}", where, key, found_json(*found));
    return found->get<int64_t>();
}

json object_at(const json& object, const char* key, const std::string& where) {
    const auto found = object.find(key);
    if (found == object.end() || found->is_null()) return nullptr;
    if (!found->is_object())
        fail("{}: key '{}' must be an object, found {}", where, key, found_json(*found));
    return *found;
}

json object_of(const std::map<std::string, std::string>& metadata, const std::string& path) {
    const auto found = metadata.find(kDescriptionKey);
    if (found == metadata.end())
        fail(
            "{}: no '{}' key in the metadata: a file of tensors, but not an Afterimage checkpoint; "
            "weights of others come in by afterimage import FILE -o MODEL.safetensors "
            "(docs/imports.md)",
            path, kDescriptionKey);
    const std::string where = path + ": " + kDescriptionKey;
    json description = parse_json(found->second, {.file = where});
    if (!description.is_object())
        fail("{}: the '{}' metadata is not a JSON object, found {}", path, kDescriptionKey,
             found_json(description));
    return description;
}

void check_version(const json& description, const std::string& where) {
    const int64_t version = integer_at(description, "format_version", 1, where);
    if (version < 1 || version > kCheckpointVersion)
        fail(
            "{}: format_version {} is not known to this program (knows 1 to {}); a newer "
            "Afterimage wrote it",
            where, version, kCheckpointVersion);
}

}  // namespace

Description parse_description(const std::map<std::string, std::string>& metadata,
                              const std::string& path) {
    const std::string where = path + ": " + kDescriptionKey;
    const json object = object_of(metadata, path);
    check_version(object, where);
    static const std::set<std::string> known{
        "format_version", "program_version", "config",  "maps", "task", "data",
        "step",           "metrics",         "training"};
    for (const auto& [key, value] : object.items())
        if (!known.contains(key)) fail("{}: unknown key '{}'", where, shown(key));
    Description out;
    out.config = object_at(object, "config", where);
    out.maps = object_at(object, "maps", where);
    if (out.config.is_null() && out.maps.is_null())
        fail("{}: key 'config' is missing (or 'maps', of position biases alone)", where);
    if (!out.maps.is_null())
        for (const char* const key : {"config", "data", "training"})
            if (object.contains(key))
                fail("{}: key '{}' does not go with 'maps' (position biases alone)", where, key);
    out.step = integer_at(object, "step", 0, where);
    if (out.step < 0) fail("{}: step {} is negative", where, out.step);
    out.metrics = object_at(object, "metrics", where);
    out.data = object_at(object, "data", where);
    out.training = object_at(object, "training", where);
    if (const auto task = object.find("task"); task != object.end()) out.task = *task;
    return out;
}

}  // namespace aft

#include "model/data/files/shard_index.h"

#include <set>

#include "core/caught.h"
#include "core/check.h"
#include "core/files.h"
#include "core/json.h"
#include "core/outside.h"

namespace aft {
namespace {

using nlohmann::json;

constexpr const char* kIndexKey = "afterimage_shards";
constexpr uint64_t kMostIndexBytes = uint64_t{64} << 20;

// A list of this name; Error where there is none.
const json& list_in(const json& object, const char* key, const std::string& file) {
    const auto found = object.find(key);
    AFT_CHECK(found != object.end() && found->is_array(), "'{}': {} is {}; expected a list", file,
              key, found == object.end() ? "missing" : found_json(*found));
    return *found;
}

// An entry that holds a text; Error where there is none.
std::string text_in(const json& object, const char* key, const std::string& file) {
    const auto found = object.is_object() ? object.find(key) : object.end();
    AFT_CHECK(object.is_object() && found != object.end() && found->is_string(),
              "'{}': a shard's {} is missing or no text: {}", file, key, found_json(object));
    return found->get<std::string>();
}

ShardEntry parse_entry(const json& value, const std::string& file) {
    ShardEntry entry;
    entry.file = text_in(value, "file", file);
    const bool is_name = !entry.file.empty() && entry.file != "." && entry.file != ".." &&
                         entry.file.find('/') == std::string::npos &&
                         entry.file.find('\0') == std::string::npos;
    AFT_CHECK(is_name, "'{}': a shard's file is '{}'; expected the name of a file beside it", file,
              shown(entry.file));
    entry.part = with_context(file, [&] { return parse_split(text_in(value, "part", file)); });
    const auto examples = value.find("examples");
    const bool is_count = examples != value.end() && examples->is_number_integer() &&
                          *examples >= 0 && *examples <= kMostShardExamples;
    AFT_CHECK(is_count, "'{}': examples of '{}' is {}; allowed: whole numbers from 0 to {}", file,
              shown(entry.file), examples == value.end() ? "missing" : found_json(*examples),
              kMostShardExamples);
    entry.examples = examples->get<int64_t>();
    return entry;
}

std::vector<std::string> parse_classes(const json& list, const std::string& file) {
    std::vector<std::string> names;
    std::set<std::string> seen;
    for (const json& name : list) {
        AFT_CHECK(name.is_string(), "'{}': a class is {}; expected a text", file, found_json(name));
        names.push_back(name.get<std::string>());
        AFT_CHECK(seen.insert(names.back()).second, "'{}': the class '{}' is there twice", file,
                  shown(names.back()));
    }
    return names;
}

}  // namespace

std::optional<ShardIndex> read_shard_index(const fs::path& folder) {
    const fs::path path = folder / kShardIndexName;
    std::error_code error;
    if (!fs::exists(path, error)) return std::nullopt;
    const json value = read_json_file(path, kMostIndexBytes);
    if (!value.is_object() || !value.contains(kIndexKey)) return std::nullopt;
    const std::string file = shown_path(path.string());
    AFT_CHECK(value[kIndexKey] == 1, "'{}': {} is {}; this program reads 1", file, kIndexKey,
              found_json(value[kIndexKey]));
    ShardIndex index;
    index.classes = parse_classes(list_in(value, "classes", file), file);
    std::set<std::string> seen;
    for (const json& entry : list_in(value, "shards", file)) {
        index.shards.push_back(parse_entry(entry, file));
        AFT_CHECK(seen.insert(index.shards.back().file).second, "'{}': '{}' is there twice", file,
                  shown(index.shards.back().file));
    }
    return index;
}

void write_shard_index(const fs::path& folder, const ShardIndex& index) {
    json value = {{kIndexKey, 1}, {"classes", index.classes}, {"shards", json::array()}};
    for (const ShardEntry& shard : index.shards)
        value["shards"].push_back(
            {{"file", shard.file}, {"part", split_name(shard.part)}, {"examples", shard.examples}});
    write_atomically(folder / kShardIndexName, json_text(value, 1) + "\n");
}

}  // namespace aft

// index.json beside the shards of a folder: what `data pack` made there. Any thread; blocks on the
// disk. Errors name the file.
//   {"afterimage_shards": 1, "classes": ["cat", "dog"],
//    "shards": [{"examples": 500, "file": "train-00000.tar", "part": "train"}, ...]}
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "model/data/source.h"

namespace aft {

struct ShardEntry {
    std::string file{};  // beside the index
    Split part = Split::train;
    int64_t examples = 0;  // 0 to kMostShardExamples
};
struct ShardIndex {
    std::vector<std::string> classes{};  // empty: no labels
    std::vector<ShardEntry> shards{};
};

inline constexpr int64_t kMostShardExamples = int64_t{1} << 22;
inline constexpr const char* kShardIndexName = "index.json";

// None where there is no such file, or one of another program's.
[[nodiscard]] std::optional<ShardIndex> read_shard_index(const std::filesystem::path& folder);
void write_shard_index(const std::filesystem::path& folder, const ShardIndex& index);  // atomic

}  // namespace aft

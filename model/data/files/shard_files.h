// Which shards a SPEC names. Any thread; blocks on the file system (it lists folders). No shard is
// opened.
//   shards:GLOB              all of them are one part, in the order of their names
//   shards:GLOB?val=GLOB&test=GLOB
//   shards:DIR               parts and order as index.json says (shard_index.h)
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "model/data/source.h"

namespace aft {

struct ShardFile {
    std::filesystem::path path{};
    Split part = Split::train;
    int64_t examples = -1;  // that it ought to hold; -1: not known
};
struct ShardFiles {
    std::vector<ShardFile> files{};
    // By their number; none where no index.json says them (an empty list: there are no labels).
    std::optional<std::vector<std::string>> classes{};
    bool has_parts = false;  // said by the options val and test or by index.json
};

// Errors: nothing of that name, a shard in two parts, folders whose index.json differ in classes.
[[nodiscard]] ShardFiles find_shards(const Spec& spec);

}  // namespace aft

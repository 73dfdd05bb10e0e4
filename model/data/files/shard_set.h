// The pictures of tar shards, their classes and their parts. Every shard is opened once and its
// headers are read (tar_members.h); nothing is written. Any thread; blocks on the file system.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "model/data/parts.h"

namespace aft {

// About 60 bytes a picture: a million of them are held in memory.
struct ShardPicture {
    std::string name{};  // of its member
    int64_t offset = 0;  // bytes of the shard
    uint32_t size = 0;   // at most kMaxImageBytes
    uint32_t shard = 0;  // place in ShardSet::shards
    int32_t label = -1;
    int32_t problem = -1;  // place in ShardSet::problems; -1: none that is known
};

struct ShardSet {
    std::vector<std::filesystem::path> shards{};
    SplitParts<ShardPicture> parts{};
    // By index.json, else the names that KEY.cls hold, in their order; empty where labels are
    // numbers without names, or none.
    std::vector<std::string> class_names{};
    int64_t classes = 0;
    std::vector<std::string> problems{};
};

// Reads the options val, test, holdout (percent of a set without parts that is validation, chosen
// by the hash of the member's name; 10), classes (of labels that are numbers without names) and
// split=all. Errors: no shard, no picture, a label of another part that the training part lacks.
[[nodiscard]] ShardSet list_shards(const Spec& spec);

}  // namespace aft

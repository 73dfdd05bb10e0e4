// Names of shards that `data pack` writes. Pure text, but for shards_there(). Any thread. No
// LibTorch.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "model/data/source.h"

namespace aft {

struct ShardPattern {
    std::filesystem::path folder{};  // "." where the pattern names none
    std::string before{}, after{};   // of the number: "train-", ".tar"
    int64_t digits = 0;              // at least so many, zeros in front; 0: as many as it has
    [[nodiscard]] std::string file(int64_t number) const;
    [[nodiscard]] std::string glob() const;  // that all of them fit
    [[nodiscard]] bool fits(const std::string& name) const;
    // Below which names in their order are numbers in their order.
    [[nodiscard]] int64_t most_shards() const;
};

// Usage Error names -o and says what is allowed.
[[nodiscard]] ShardPattern parse_shard_pattern(const std::string& out);
// The same with "train" replaced for another part; usage Error where there is no "train".
[[nodiscard]] ShardPattern pattern_of_part(const ShardPattern& pattern, Split part);
// The files of its folder that fit; none where there is no such folder.
[[nodiscard]] std::vector<std::filesystem::path> shards_there(const ShardPattern& pattern);

}  // namespace aft

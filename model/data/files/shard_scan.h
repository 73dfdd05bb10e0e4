// The examples of one shard: members that follow each other and share a key, as WebDataset has
// them. KEY.jpg (or .jpeg, .png, .bmp, .pgm, .ppm, .pnm) is the picture; KEY.cls its label, a
// number or a name, or else "label" of KEY.json. KEY is the path up to the first dot of its last
// part; other members are passed over. Any thread; no state. Errors name the file. No LibTorch.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace aft {

struct ShardExample {
    std::string name{};            // of the picture's member
    int64_t offset = 0, size = 0;  // of the picture in the file
    std::string label{};           // as it stands there; empty: none
    bool has_label_file = false;   // KEY.cls is there, whatever it holds
    std::string problem{};         // why it is left out, with file and member; empty: it is not
    std::string label_problem{};   // the same, where labels are needed
};

// In the order of the file. What is known to be lost of a file that is damaged or cut stands at the
// end as examples with a problem: as many as the `expected` that are missing (-1: not known), or
// one. Error: no such file, not a tar file, a compressed one.
[[nodiscard]] std::vector<ShardExample> scan_shard(const std::filesystem::path& path,
                                                   int64_t expected);

// The number that a label is: digits alone, below kMostClasses; -1: it is a name.
inline constexpr int64_t kMostClasses = int64_t{1} << 20;
[[nodiscard]] int64_t label_number(const std::string& label);

}  // namespace aft

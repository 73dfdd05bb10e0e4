// From a file's tensors and a mapping to a checkpoint of ours. Any thread; no state; memory of a
// few times the file.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "model/checkpoints/checkpoint.h"
#include "model/checkpoints/importers/recognise.h"

namespace aft::imports {

struct Moved {
    std::string from, to;        // their name, ours
    std::vector<int64_t> shape;  // of ours
    std::string how;             // "transposed, times sqrt(dim)"; "" = as it is
};
struct Left {
    std::string name;
    std::vector<int64_t> shape;
    std::string why;
};

struct Converted {
    Checkpoint checkpoint;
    std::vector<Moved> moved;
    std::vector<Left> dropped;
    std::vector<Left> fresh;  // our parameters that the file does not have
};

// settings: what the user sets, in order, over what the mapping says. Error on names that no rule
// knows, on parameters without a value and on shapes that do not fit: nothing is guessed.
[[nodiscard]] Converted convert(const Recognised& found, const std::string& path,
                                const std::vector<std::pair<std::string, std::string>>& settings);

}  // namespace aft::imports

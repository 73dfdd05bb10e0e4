// Data item: one input of a model as the window gets it, from its data or from a picture file.
// Plain types. No LibTorch. Any thread.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace aft {

struct DataItem {
    std::vector<uint8_t> tokens;
    int64_t label = -1;
    std::string split, caption;  // split: the part of the data it is of; empty for a file
    std::string changes{};       // of a file, to fit the model (decode/picture.h); "" = none
    int64_t part_size = 0;       // examples of that part; asking beyond begins it again
};
// Why an item cannot be shown; without words it can.
struct ItemError {
    std::string words;
    bool is_part_empty = false;  // the data are there, this split of them is empty
};

}  // namespace aft

// The pictures of a folder, their classes and their parts; nothing is opened. Any thread; blocks on
// the file system (it lists folders) until Spec::stop asks to stop.
//   ROOT/*.png               pictures without classes
//   ROOT/CLASS/*.png         one folder a class, in the order of their names
//   ROOT/train/..., ROOT/val/..., ROOT/test/...   either of these for each part; val may also be
//                            called valid or validation
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "model/data/parts.h"

namespace aft {

struct PictureFile {
    std::filesystem::path path{};
    int64_t label = -1;
};

struct PictureFolder {
    SplitParts<PictureFile> parts{};
    std::vector<std::string> class_names{};
};

// Reads the options holdout (percent of a folder without parts that is validation, chosen by the
// hash of the file's name, so that it depends on no machine; 10) and split=all. Errors: no folder,
// no picture, a class of another part that the training part lacks.
[[nodiscard]] PictureFolder list_pictures(const Spec& spec);

}  // namespace aft

// Files of our own names that carry the model's settings, as `export --as torch` writes them. Any
// thread; no state.
#pragma once
#include "model/checkpoints/importers/convert.h"

namespace aft::imports {

[[nodiscard]] bool has_settings(const TensorFile& file);
// settings: what the user sets over those of the file. The state of a training stays behind. Error
// where tensors and settings do not belong together.
[[nodiscard]] Converted convert_own(
    const std::string& path, const std::vector<std::pair<std::string, std::string>>& settings);

}  // namespace aft::imports

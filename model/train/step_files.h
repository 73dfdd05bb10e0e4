// Files named by step: FOLDER/step-NNNNNNNN.safetensors (checkpoints/, history/). Any thread.
#pragma once
#include <cstdint>
#include <filesystem>
#include <vector>

namespace aft {

[[nodiscard]] std::filesystem::path step_file(const std::filesystem::path& folder, int64_t step);
// Steps that have a file, ascending; a missing folder has none. Temporary files do not count.
[[nodiscard]] std::vector<int64_t> step_files(const std::filesystem::path& folder);

}  // namespace aft

// Where the files of a run lie, and which are there: files named by step,
// FOLDER/step-NNNNNNNN.safetensors (checkpoints/, history/). Any thread; blocks on the listing of a
// folder. No LibTorch.
#pragma once
#include <cstdint>
#include <filesystem>
#include <vector>

namespace aft {

[[nodiscard]] std::filesystem::path step_file(const std::filesystem::path& folder, int64_t step);
// Steps that have a file, ascending; a missing folder has none. Temporary files do not count.
[[nodiscard]] std::vector<int64_t> step_files(const std::filesystem::path& folder);

[[nodiscard]] bool is_run_folder(const std::filesystem::path& path);
[[nodiscard]] std::vector<int64_t> checkpoint_steps(const std::filesystem::path& run);  // ascending
[[nodiscard]] std::filesystem::path checkpoint_path(const std::filesystem::path& run, int64_t step);

}  // namespace aft

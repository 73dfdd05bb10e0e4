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

// What a run folder holds.
inline constexpr const char *kConfigFile = "config.json", *kMetricsFile = "metrics.jsonl",
                            *kEventsFile = "events.jsonl", *kCheckpointsFolder = "checkpoints",
                            *kHistoryFolder = "history", *kBranchesFolder = "branches";
[[nodiscard]] std::filesystem::path config_path(const std::filesystem::path& run);
[[nodiscard]] std::filesystem::path metrics_path(const std::filesystem::path& run);
[[nodiscard]] std::filesystem::path events_path(const std::filesystem::path& run);
[[nodiscard]] std::filesystem::path checkpoints_folder(const std::filesystem::path& run);
[[nodiscard]] std::filesystem::path history_folder(const std::filesystem::path& run);
[[nodiscard]] std::filesystem::path branches_folder(const std::filesystem::path& run);
// The run whose branches/ or checkpoints/ hold this folder or file, of the path alone; empty =
// none.
[[nodiscard]] std::filesystem::path run_of_branch(const std::filesystem::path& branch);
[[nodiscard]] std::filesystem::path run_of_saved(const std::filesystem::path& checkpoint);

[[nodiscard]] bool is_run_folder(const std::filesystem::path& path);
[[nodiscard]] std::vector<int64_t> checkpoint_steps(const std::filesystem::path& run);  // ascending
[[nodiscard]] std::filesystem::path checkpoint_path(const std::filesystem::path& run, int64_t step);

}  // namespace aft

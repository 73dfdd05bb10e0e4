#include "model/checkpoints/run_paths.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>

namespace aft {

std::filesystem::path step_file(const std::filesystem::path& folder, int64_t step) {
    return folder / fmt::format("step-{:08}.safetensors", step);
}

std::vector<int64_t> step_files(const std::filesystem::path& folder) {
    std::vector<int64_t> steps;
    std::error_code error;
    for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end;
         it.increment(error)) {
        const std::string name = it->path().stem().string();
        constexpr std::string_view kStart = "step-";
        int64_t step = 0;
        if (!name.starts_with(kStart)) continue;
        const char* first = name.data() + kStart.size();
        const auto read = std::from_chars(first, name.data() + name.size(), step);
        // Only the exact name counts: "step-12 (copy).safetensors" is not ours.
        if (read.ec == std::errc() && it->path() == step_file(folder, step)) steps.push_back(step);
    }
    std::sort(steps.begin(), steps.end());
    return steps;
}

std::filesystem::path config_path(const std::filesystem::path& run) {
    return run / kConfigFile;
}

std::filesystem::path metrics_path(const std::filesystem::path& run) {
    return run / kMetricsFile;
}

std::filesystem::path events_path(const std::filesystem::path& run) {
    return run / kEventsFile;
}

std::filesystem::path checkpoints_folder(const std::filesystem::path& run) {
    return run / kCheckpointsFolder;
}

std::filesystem::path history_folder(const std::filesystem::path& run) {
    return run / kHistoryFolder;
}

std::filesystem::path branches_folder(const std::filesystem::path& run) {
    return run / kBranchesFolder;
}

namespace {

std::filesystem::path run_around(const std::filesystem::path& path, const char* folder) {
    const std::filesystem::path parent = path.parent_path();
    return parent.filename() == folder ? parent.parent_path() : std::filesystem::path();
}

}  // namespace

std::filesystem::path run_of_branch(const std::filesystem::path& branch) {
    return run_around(branch, kBranchesFolder);
}

std::filesystem::path run_of_saved(const std::filesystem::path& checkpoint) {
    return run_around(checkpoint, kCheckpointsFolder);
}

bool is_run_folder(const std::filesystem::path& path) {
    std::error_code error;
    return std::filesystem::is_directory(path, error) &&
           std::filesystem::exists(config_path(path), error);
}

std::vector<int64_t> checkpoint_steps(const std::filesystem::path& run) {
    return step_files(checkpoints_folder(run));
}

std::filesystem::path checkpoint_path(const std::filesystem::path& run, int64_t step) {
    return step_file(checkpoints_folder(run), step);
}

}  // namespace aft

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

bool is_run_folder(const std::filesystem::path& path) {
    std::error_code error;
    return std::filesystem::is_directory(path, error) &&
           std::filesystem::exists(path / "config.json", error);
}

std::vector<int64_t> checkpoint_steps(const std::filesystem::path& run) {
    return step_files(run / "checkpoints");
}

std::filesystem::path checkpoint_path(const std::filesystem::path& run, int64_t step) {
    return step_file(run / "checkpoints", step);
}

}  // namespace aft

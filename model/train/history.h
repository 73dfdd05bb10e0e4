// History: position-bias parameters of the past, thinned evenly (first and last kept), for
// scrubbing the timeline.
#pragma once
#include <filesystem>
#include <vector>

#include "model/nn/parameters.h"

namespace aft {

class History {
  public:
    // frames: the most that are kept; folder empty = in memory only.
    History(std::filesystem::path folder, int64_t frames);
    // Keeps the position-bias parameters of this step if it is due; thins by doubling the stride
    // when full.
    void record(int64_t step, const Parameters& parameters);
    [[nodiscard]] std::vector<int64_t> steps() const;

  private:
    std::filesystem::path folder_;
    int64_t frames_, stride_ = 1;
    std::vector<int64_t> steps_;
};

// The stored position-bias tensors of the newest frame at or before `step`, canonical names; empty
// if none.
[[nodiscard]] std::vector<std::pair<std::string, at::Tensor>> read_history(
    const std::filesystem::path& folder, int64_t step);
[[nodiscard]] std::vector<int64_t> history_steps(const std::filesystem::path& folder);

}  // namespace aft

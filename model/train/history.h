// History: position-bias parameters of the past, thinned evenly (first and last kept), for
// scrubbing the timeline. Half precision where the values fit. What is kept at a step follows from
// the steps alone, so a run that was killed and resumed keeps what it would have kept
// undisturbed. Trainer thread; the free functions on any thread.
#pragma once
#include <filesystem>
#include <map>
#include <vector>

#include "model/nn/parameters.h"

namespace aft {

using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;

class History {
  public:
    // frames: the most that are kept, 0 = none; folder empty = in memory only. Frames that are in
    // the folder already are kept. expected_steps chooses the first stride.
    History(std::filesystem::path folder, int64_t frames, int64_t expected_steps = 0);
    // Keeps the position-bias parameters of this step if it is due (or `always`); where they are
    // too many the stride doubles and the oldest between go first.
    void record(int64_t step, const Parameters& parameters, bool always = false);
    [[nodiscard]] const std::vector<int64_t>& steps() const { return steps_; }
    [[nodiscard]] NamedTensors at(int64_t step) const;  // newest at or before `step`

  private:
    [[nodiscard]] int64_t count_at(int64_t step, int64_t stride) const;
    [[nodiscard]] int64_t stride_at(int64_t step) const;
    void thin();
    void drop(int64_t step);
    std::filesystem::path folder_;
    int64_t frames_, first_stride_ = 1;
    std::vector<int64_t> steps_;              // ascending
    std::map<int64_t, NamedTensors> memory_;  // used without a folder
};

// The stored position-bias tensors of the newest frame at or before `step`, canonical names,
// float32; empty if none.
[[nodiscard]] NamedTensors read_history(const std::filesystem::path& folder, int64_t step);
[[nodiscard]] std::vector<int64_t> history_steps(const std::filesystem::path& folder);
[[nodiscard]] std::filesystem::path history_path(const std::filesystem::path& folder, int64_t step);

}  // namespace aft

#include "model/train/history.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>

#include "core/check.h"
#include "core/files.h"
#include "model/checkpoints/checkpoint.h"
#include "model/checkpoints/format.h"
#include "model/checkpoints/run_paths.h"
#include "model/train/own_files.h"

namespace aft {
namespace {

// Half precision keeps 3 digits and halves the space; values that would overflow stay float32.
at::Tensor compact(const at::Tensor& value) {
    const auto type = fits_half(value) ? at::kHalf : at::kFloat;
    return value.detach().to(at::kCPU, type, false, /*copy=*/true);
}

NamedTensors biases(const Parameters& parameters) {
    const c10::NoGradGuard no_grad;
    NamedTensors tensors;
    for (const Parameter& parameter : parameters)
        if (parameter.group == ParameterGroup::position_bias && parameter.value.numel() > 0)
            tensors.emplace_back(parameter.name, compact(parameter.value));
    return tensors;
}

NamedTensors widened(NamedTensors tensors) {
    for (auto& [name, tensor] : tensors) tensor = tensor.to(at::kFloat);
    return tensors;
}

int64_t first_stride(int64_t frames, int64_t expected_steps) {
    int64_t stride = 1;
    while (frames > 0 && expected_steps / stride > frames) stride *= 2;
    return stride;
}

}  // namespace

std::filesystem::path history_path(const std::filesystem::path& folder, int64_t step) {
    return step_file(folder, step);
}

std::vector<int64_t> history_steps(const std::filesystem::path& folder) {
    return step_files(folder);
}

NamedTensors read_history(const std::filesystem::path& folder, int64_t step) {
    const std::vector<int64_t> steps = history_steps(folder);
    const auto after = std::upper_bound(steps.begin(), steps.end(), step);
    if (after == steps.begin()) return {};
    return widened(read_tensors(history_path(folder, *std::prev(after))).tensors);
}

History::History(std::filesystem::path folder, int64_t frames, int64_t expected_steps)
    : folder_(std::move(folder)),
      frames_(frames <= 0 ? 0 : std::max<int64_t>(frames, 2)),
      first_stride_(first_stride(frames_, expected_steps)) {
    if (!folder_.empty()) steps_ = history_steps(folder_);
}

void History::record(int64_t step, const Parameters& parameters, bool always) {
    if (frames_ == 0 || (!always && step % stride_at(step) != 0)) return;
    if (std::binary_search(steps_.begin(), steps_.end(), step)) return;
    NamedTensors tensors = biases(parameters);
    if (tensors.empty()) return;
    if (folder_.empty()) {
        memory_[step] = std::move(tensors);
    } else {
        // A run folder that was moved away is not made again: it may be put back.
        std::error_code ignored;
        const std::filesystem::path run = folder_.parent_path();
        AFT_CHECK(run.empty() || std::filesystem::exists(run, ignored), "{}: {}", run.string(),
                  kGoneRun);
        make_folder(folder_);
        write_tensors(history_path(folder_, step), {.tensors = std::move(tensors), .metadata = {}});
    }
    steps_.insert(std::upper_bound(steps_.begin(), steps_.end(), step), step);
    thin();
}

// Frames of a run that kept every stride-th step so far: the first, those, and this one.
int64_t History::count_at(int64_t step, int64_t stride) const {
    const int64_t first = steps_.empty() ? step : std::min(steps_.front(), step);
    const int64_t inner = step > first ? (step - 1) / stride - first / stride : 0;
    return 1 + inner + (step > first ? 1 : 0);
}

// From the step alone, not from the frames on disk: a killed process may have thinned them further.
int64_t History::stride_at(int64_t step) const {
    int64_t stride = first_stride_;
    while (count_at(step, stride) > frames_) stride *= 2;
    return stride;
}

void History::thin() {
    const int64_t last = steps_.back(), stride = stride_at(last);
    std::vector<int64_t> between;  // the strides: of a smaller one, or saved out of turn
    for (const int64_t step : steps_)
        if (step % stride != 0 && step != steps_.front() && step != last) between.push_back(step);
    const auto spare = static_cast<size_t>(frames_ - count_at(last, stride));
    for (size_t i = 0; i + spare < between.size(); ++i) drop(between[i]);
}

void History::drop(int64_t step) {
    if (folder_.empty()) {
        memory_.erase(step);
    } else {
        std::error_code ignored;  // a frame that stays costs space, nothing else
        std::filesystem::remove(history_path(folder_, step), ignored);
    }
    std::erase(steps_, step);
}

NamedTensors History::at(int64_t step) const {
    if (!folder_.empty()) return read_history(folder_, step);
    const auto after = memory_.upper_bound(step);
    return after == memory_.begin() ? NamedTensors{} : widened(std::prev(after)->second);
}

}  // namespace aft

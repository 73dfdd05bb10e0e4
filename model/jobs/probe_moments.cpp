#include "model/jobs/probe_moments.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "core/check.h"
#include "core/files.h"
#include "core/half_way.h"
#include "core/outside.h"
#include "model/checkpoints/checkpoint.h"
#include "model/checkpoints/run_paths.h"
#include "model/probe/probe.h"
#include "model/train/history.h"

namespace aft {
namespace {

constexpr size_t kMostSeries = 1024;

// Stored step -> only its biases are there (history). They are stored more often than weights.
std::map<int64_t, bool> moments_of(const std::string& model, const ProbeRoom& room) {
    std::map<int64_t, bool> moments;
    if (room.needs == ProbeNeeds::biases)
        for (const int64_t step : history_steps(history_folder(model))) moments[step] = true;
    for (const int64_t step : checkpoint_steps(model)) moments[step] = false;
    return moments;
}

// `newest` with the biases of that step.
Checkpoint with_biases(const std::string& model, const Checkpoint& newest, int64_t step) {
    Checkpoint out = newest;
    for (const auto& [name, value] : read_history(history_folder(model), step))
        for (auto& [own, weight] : out.weights)
            if (own == name && weight.sizes() == value.sizes()) weight = value;
    out.step = step;
    return out;
}

// Of every series over the moments, in their order.
std::vector<int64_t> half_steps(const Field& field, const std::vector<int64_t>& steps) {
    const size_t series = field.values.size() / steps.size();
    std::vector<int64_t> halves;
    std::vector<float> one(steps.size());
    for (size_t i = 0; i < series; ++i) {
        for (size_t m = 0; m < steps.size(); ++m) one[m] = field.values[m * series + i];
        const auto half = half_way(one);
        halves.push_back(half ? steps[*half] : -1);
    }
    return halves;
}

}  // namespace

void check_moments(const std::string& model) {
    if (!is_run_folder(model))
        fail_usage("--moments: '{}' is no run folder: it has no stored steps", shown_path(model));
}

Field probe_moments(const std::string& model, const Checkpoint& newest, const ProbeRoom& room,
                    const MomentsControl& control) {
    const std::map<int64_t, bool> moments = moments_of(model, room);
    AFT_CHECK(!moments.empty(), "{}: no step is stored", shown_path(model));
    Field all;
    std::vector<int64_t> steps;
    for (const auto& [step, is_frame] : moments) {
        if (control.job.stop.stop_requested()) throw Interrupted();
        control.job.report({.done = static_cast<int64_t>(steps.size()),
                            .total = static_cast<int64_t>(moments.size()),
                            .what = "stored steps"});
        const Field one = control.measure(is_frame ? with_biases(model, newest, step)
                                                   : read_checkpoint(checkpoint_path(model, step)));
        if (steps.empty()) {
            all = one;
            all.values.clear();
        }
        AFT_CHECK(steps.empty() || std::equal(one.shape.begin(), one.shape.end(), all.shape.begin(),
                                              all.shape.end()),
                  "{}: the model of step {} has another shape", shown_path(model), step);
        all.values.insert(all.values.end(), one.values.begin(), one.values.end());
        all.step = step;
        steps.push_back(step);
    }
    all.shape.insert(all.shape.begin(), static_cast<int64_t>(steps.size()));
    all.axes.insert(all.axes.begin(), "moment");
    all.notes["steps"] = fmt::format("{}", fmt::join(steps, " "));
    if (all.values.size() / steps.size() <= kMostSeries)
        all.notes["half by"] = fmt::format("{}", fmt::join(half_steps(all, steps), " "));
    return all;
}

}  // namespace aft

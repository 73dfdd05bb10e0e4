// A task room: batch -> loss and metrics, and what others need to know of it.
// Room = one .cpp with one exported function `TaskRoom NAME_task();`, listed in rooms.cpp.
#pragma once
#include <ATen/core/Tensor.h>

#include <map>
#include <string>
#include <vector>

#include "core/rooms.h"
#include "model/data/loader.h"
#include "model/net/net.h"
#include "model/traits.h"

namespace aft {

struct TaskResult {
    at::Tensor loss;  // scalar, nats per token (or per example), mean over the batch
    std::map<std::string, double> metrics;  // the metric of its traits
    int64_t tokens = 0, examples = 0;
    // Without gradients: [B, T, values] or, of tasks with classes, [B, classes]; else undefined.
    at::Tensor logits;
};

struct TokenGrid {
    int64_t height = 1, width = 1;  // of all tokens but those before it
    int64_t prefix_tokens = 0;      // before the grid: class token, then distillation token
};

struct TaskRoom {
    RoomInfo info;
    TaskTraits traits;
    TokenGrid (*grid)(const ModelConfig&) = nullptr;
    // Logits of a token or an input; none: levels.
    int64_t (*outputs)(const ModelConfig&) = nullptr;
    bool (*is_causal)(const ModelConfig&) = nullptr;  // none: as is_autoregressive of its traits
    // The metric of a mean loss in nats. None: the mean of what `evaluate` gives over the examples.
    double (*metric)(double loss) = nullptr;
    // training: the room's settings of the training (TrainConfig::own); {} to measure.
    TaskResult (*evaluate)(const Net& net, const Batch& batch, const Pass& pass,
                           const RoomSettings& training) = nullptr;
    RoomVisit visit = nullptr;           // settings of its own, "model.*": visit_settings<Own>
    RoomVisit visit_training = nullptr;  // and "train.*"
    // Throws usage Error on settings of its own that do not fit; called for models of other tasks,
    // too.
    void (*check)(const ModelConfig&) = nullptr;
};

[[nodiscard]] const std::vector<TaskRoom>& tasks();
[[nodiscard]] const TaskRoom& task_of(const ModelConfig& model);
// Throws usage Error that names the setting, the reason and the tasks that can be trained.
void check_trainable(const ModelConfig& model);
// For programs that bring rooms of their own, before anything else is called.
void add_task(TaskRoom room);

// What autoregressive tasks share: the mean cross entropy of the next token, and the grids. Thread
// of the net's owner.
[[nodiscard]] TaskResult evaluate_sequence(const Net& net, const Batch& batch, const Pass& pass,
                                           const RoomSettings& training);
[[nodiscard]] TokenGrid grid_of_values(const ModelConfig& model);  // sub-pixels, raster order
[[nodiscard]] double bits_of(double nats);

}  // namespace aft

// A task room: batch -> loss and metrics, and the words for them.
// Room = one .cpp with one exported function `TaskRoom NAME_task();`, listed in rooms.cpp.
#pragma once
#include <ATen/core/Tensor.h>

#include <map>
#include <string>
#include <vector>

#include "core/rooms.h"
#include "model/data/loader.h"
#include "model/net/net.h"

namespace aft {

struct TaskResult {
    at::Tensor loss;  // scalar, nats per token (or per example), mean over the batch
    std::map<std::string, double> metrics;  // "bits_per_dim" | "bits_per_byte" | "accuracy"
    int64_t tokens = 0, examples = 0;
};

struct TaskRoom {
    RoomInfo info;
    std::string metric;        // the metric's key
    std::string metric_words;  // "bits/dim"
    TaskResult (*evaluate)(const Net& net, const Batch& batch, const Pass& pass,
                           double label_smoothing) = nullptr;
};

[[nodiscard]] const std::vector<TaskRoom>& tasks();
[[nodiscard]] const TaskRoom& task_of(const ModelConfig& model);

}  // namespace aft

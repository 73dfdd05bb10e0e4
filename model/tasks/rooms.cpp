// The list of tasks: one line a room.
#include <fmt/ranges.h>

#include "core/check.h"
#include "model/tasks/task.h"

namespace aft {

TaskRoom image_task();
TaskRoom text_task();
TaskRoom classify_task();
TaskRoom layer_task();
TaskRoom maps_task();

static std::vector<TaskRoom>& list() {
    static std::vector<TaskRoom> rooms = {image_task(), text_task(), classify_task(), layer_task(),
                                          maps_task()};
    return rooms;
}

const std::vector<TaskRoom>& tasks() {
    return list();
}

void add_task(TaskRoom room) {
    list().push_back(std::move(room));
}

const TaskRoom& task_of(const ModelConfig& model) {
    return find_room(tasks(), model.task, "task");
}

void check_trainable(const ModelConfig& model) {
    const TaskTraits& traits = task_traits(model);
    if (traits.is_trainable()) return;
    std::vector<std::string> trainable;
    for (const TaskRoom& room : tasks())
        if (room.traits.is_trainable()) trainable.push_back(room.info.name);
    fail_usage("model.task={} cannot be trained: {}; allowed: {}", model.task, traits.no_training,
               fmt::join(trainable, ", "));
}

const TaskTraits& task_traits(const ModelConfig& model) {
    return task_of(model).traits;
}

}  // namespace aft

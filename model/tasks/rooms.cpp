// The list of tasks: one line a room.
#include "model/tasks/task.h"

namespace aft {

TaskRoom image_task();
TaskRoom text_task();
TaskRoom classify_task();
TaskRoom layer_task();

static std::vector<TaskRoom>& list() {
    static std::vector<TaskRoom> rooms = {image_task(), text_task(), classify_task(), layer_task()};
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

const TaskTraits& task_traits(const ModelConfig& model) {
    return task_of(model).traits;
}

}  // namespace aft

// The list of tasks: one line a room.
#include "model/tasks/task.h"

namespace aft {

TaskRoom image_task();
TaskRoom text_task();
TaskRoom classify_task();

const std::vector<TaskRoom>& tasks() {
    static const std::vector<TaskRoom> rooms = {image_task(), text_task(), classify_task()};
    return rooms;
}

const TaskRoom& task_of(const ModelConfig& model) {
    return find_room(tasks(), model.task, "task");
}

}  // namespace aft

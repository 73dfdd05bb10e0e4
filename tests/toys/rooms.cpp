// The list of rooms that only the tests have: one line a room.
#include "tests/toys/rooms.h"

#include "model/mixers/mixer.h"
#include "model/tasks/task.h"

namespace aft {

MixerRoom toy_mixer();
TaskRoom toy_task();

void add_toy_rooms() {
    add_mixer(toy_mixer());
    add_task(toy_task());
}

}  // namespace aft

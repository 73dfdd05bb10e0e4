// The list of rooms that only the tests have: one line a room.
#include "tests/toys/rooms.h"

#include "model/mixers/mixer.h"
#include "model/tasks/task.h"

namespace aft {

MixerRoom toy_mixer();
TaskRoom toy_task();

void add_toy_rooms() {
    static const bool is_first = [] {
        add_mixer(toy_mixer());
        add_task(toy_task());
        return true;
    }();
    static_cast<void>(is_first);
}

}  // namespace aft

#include "model/status.h"

namespace aft {

const char* state_name(RunState state) {
    switch (state) {
        case RunState::empty:
            return "Empty";
        case RunState::opening:
            return "Opening";
        case RunState::ready:
            return "Ready";
        case RunState::running:
            return "Running";
        case RunState::paused:
            return "Paused";
        case RunState::stopping:
            return "Stopping";
        case RunState::stopped:
            return "Stopped";
        case RunState::error:
            return "Error";
    }
    return "";
}

void Status::describe(const Config& of) {
    config = of;
    mixer = mixer_traits(config.model);
    task = task_traits(config.model);
    metric_words = task.metric_words;
    tokens = config.model.tokens();
    grid_height = config.model.grid_height();
    grid_width = config.model.grid_width();
}

}  // namespace aft

// The states of a session's run and what leads from one to the next, as one table. Pure. No
// LibTorch. Any thread.
#pragma once
#include <optional>

#include "model/status.h"

namespace aft::session {

enum class RunEvent {
    opened,       // a new run, a checkpoint, or a run that nobody trains
    followed,     // a run that another process trains
    owner_ended,  // that process has ended, and has left a checkpoint
    begun,        // training begins or resumes
    paused,       // by the user, after the steps asked for, or by a step that failed
    stop_asked,   // the end: what is not saved is being saved
    finished,     // everything is saved: by stop, or at the target step
    rewound,      // back at a saved step
    reopened,     // a rewind failed half-way: as opened at the step asked for
    data_moved,   // another location for the data of a model that is not trained here
    held_up,      // an error that leaves the weights whole (full disk): resumes when asked
    failed        // an error with nothing to resume from
};

// nullopt: this event means nothing in this state.
[[nodiscard]] std::optional<RunState> next_state(RunState state, RunEvent event);

}  // namespace aft::session

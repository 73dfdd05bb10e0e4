// A status with the traits of its config, as a session publishes them.
#pragma once
#include "model/session.h"

namespace aft::app {

[[nodiscard]] inline Status with_traits(Status status) {
    status.mixer = mixer_traits(status.config.model);
    status.task = task_traits(status.config.model);
    return status;
}

}  // namespace aft::app

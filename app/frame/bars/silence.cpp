#include "app/frame/bars/silence.h"

#include <algorithm>

namespace aft::app {

namespace {

// Twenty of its own steps, for validations and saves; at least half a minute.
double patience_s(const Status& status) {
    return std::max(30.0, 20 * status.step_ms / 1000);
}

}  // namespace

void Silence::update(PaneContext& ui) {
    const Status& status = ui.status;
    const bool is_trained = status.following && status.state == RunState::running;
    if (!is_trained || status.step != step_) {
        step_ = is_trained ? status.step : -1;
        since_ = ui.time;
    }
    const double silent = ui.time - since_, patience = patience_s(status);
    ui.silent_s = silent >= patience ? silent : 0;
    if (is_trained) ui.want_frame_at(silent < patience ? since_ + patience : ui.time + 1);
}

}  // namespace aft::app

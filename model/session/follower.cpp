// Following: another process trains this run; we read its folder as it grows, and take over when it
// has ended. Trainer thread.
#include <algorithm>
#include <cmath>

#include "core/files.h"
#include "model/session/trainer_state.h"
#include "model/train/run_state.h"

namespace aft::session {

namespace {

bool read_lines(Live& live, Shared& shared) {
    if (!read_metrics_rows(live, shared)) return false;
    add_events(live);
    Status& status = live.status;
    status.target_step = asked_steps(read_events(live.run), live.config);
    status.step = std::llround(live.curves.step.back());
    const auto times = live.curves.columns.find("timing.step_ms");
    if (times != live.curves.columns.end() && std::isfinite(times->second.back())) {
        status.step_ms = times->second.back();
        status.steps_per_s = status.step_ms > 0 ? 1000 / status.step_ms : 0;
    }
    const auto left = static_cast<double>(std::max<int64_t>(status.target_step - status.step, 0));
    status.eta_s = status.steps_per_s > 0 ? left / status.steps_per_s : 0;
    return true;
}

bool read_weights(Live& live, Shared& shared) {
    const std::vector<int64_t> steps = checkpoint_steps(live.run);
    if (steps.empty() || steps.back() <= live.status.saved_step) return false;
    const auto path = checkpoint_path(live.run, steps.back());
    std::shared_ptr<Checkpoint> checkpoint;
    watch_file(live, path);
    try {
        checkpoint = std::make_shared<Checkpoint>(read_checkpoint(path));
    } catch (const Error&) {
        if (fs::exists(path)) throw;
        return false;  // thinned out by its owner between listing and reading
    }
    const int64_t step = std::max(live.status.step, checkpoint->step);
    if (!live.data_source.empty()) checkpoint->config.data.source = live.data_source;
    live.config = checkpoint->config;
    describe_model(live, *checkpoint);
    live.status.step = step;
    live.status.saved_step = checkpoint->step;
    live.opened = checkpoint;
    publish_checkpoint(live, shared, checkpoint);
    return true;
}

}  // namespace

bool follow_once(Live& live, Shared& shared) {
    const bool locked = is_locked(live.run);  // before reading: what is written until then counts
    const bool lines = read_lines(live, shared);
    const bool weights = read_weights(live, shared);
    if (lines || weights) publish_moments(live, shared);
    if (locked) return lines || weights;
    live.status.following = false;
    live.status.can_train = live.opened != nullptr;
    live.status.state = live.opened ? RunState::stopped : RunState::error;
    live.status.message = "the process that trained this run has ended";
    if (!live.opened) {
        live.status.error = fmt::format("{}: the run ended before its first checkpoint", live.run);
    } else {
        live.status.step = live.opened->step;
        if (const std::string lost = steps_without_weights(live); !lost.empty())
            live.status.message += "; " + lost;
    }
    return true;
}

}  // namespace aft::session

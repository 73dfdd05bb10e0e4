// Rewinding: the open run goes back to one of its checkpoints and trains on from there, bit for bit
// as it would have after a resume. What came after is kept as a branch first. Trainer thread.
#include <algorithm>

#include "core/files.h"
#include "model/session/trainer_state.h"

namespace aft::session {

namespace {

// Everything that can fail because of what was asked is done before anything changes.
Checkpoint stored(const Live& live, int64_t step) {
    AFT_CHECK(!live.run.empty() && is_run_folder(live.run),
              "rewind: this model has no run folder with saved steps");
    const std::vector<int64_t> saved = checkpoint_steps(live.run);
    if (!std::binary_search(saved.begin(), saved.end(), step))
        fail("rewind: step {} is not saved in {}; saved are: {}", step, live.run,
             saved.empty() ? "none" : fmt::format("{}", fmt::join(saved, ", ")));
    return read_checkpoint(checkpoint_path(live.run, step));
}

// As a run that was opened at this step: the next start makes the rest.
void reopen(Live& live, Shared& shared, Checkpoint checkpoint) {
    live.recorder.reset();
    live.trainer.reset();
    live.folder.reset();
    live.opened = std::make_shared<const Checkpoint>(std::move(checkpoint));
    live.status.state = RunState::ready;
    try {
        read_logs(live, shared);
    } catch (const std::exception&) {  // what is in the way of the rewind is in theirs: no curves
    }
    publish_moments(live, shared);
    publish_checkpoint(live, shared, live.opened);
    publish_curves(live, shared, true);
}

// The folder is there already.
void stand_at(Live& live, std::unique_ptr<Trainer> trainer, const Checkpoint& checkpoint) {
    live.dirty = false;
    live.pause_at = -1;
    live.recorder.reset();  // of the trainer that goes
    live.trainer = std::move(trainer);
    live.config = live.trainer->config();
    const int64_t target = live.status.target_step;
    describe_model(live, checkpoint);
    live.status.target_step = std::max(target, checkpoint.step);
    live.status.saved_step = checkpoint.step;
    live.status.state = RunState::paused;
    live.status.error.clear();
    // Answers about steps that will come a second time are of no use any more.
    live.valid_since = live.stamp + 1;
    live.snapshot_pace.step = -1;
}

void write_there(Live& live, Shared& shared, int64_t from, const fs::path& branch) {
    live.recorder = std::make_unique<Recorder>(*live.folder, *live.trainer);
    live.folder->update_config(live.config);
    read_logs(live, shared);
    const std::string kept =
        branch.empty() ? "" : fmt::format(", what came after is kept in {}", branch.string());
    add_event(live, "rewind", fmt::format("from step {}{}", from, kept));
    note_target(live);
    live.status.message = fmt::format("back at step {}{}", live.status.step, kept);
}

}  // namespace

void rewind(Live& live, Shared& shared, int64_t step) {
    Checkpoint checkpoint = stored(live, step);
    if (!live.data_source.empty()) checkpoint.config.data.source = live.data_source;
    auto trainer = std::make_unique<Trainer>(checkpoint, live.device);
    if (live.status.state == RunState::running) live.status.state = RunState::paused;
    prepare_training(live, shared);
    if (live.dirty) save_now(live, shared);  // becomes the end of the branch
    // Saving may have thinned out the very step that was asked for.
    const fs::path file = checkpoint_path(live.run, step);
    if (!fs::exists(file)) write_checkpoint(file, checkpoint);
    const int64_t from = live.status.step;
    const std::vector<int64_t> saved = checkpoint_steps(live.run);
    try {
        live.files = {};
        const fs::path branch = live.folder->go_back(step);
        stand_at(live, std::move(trainer), checkpoint);
        live.status.branch = branch.string();
        write_there(live, shared, from, branch);
    } catch (...) {
        if (trainer && checkpoint_steps(live.run) == saved) throw;  // nothing has changed
        if (trainer) stand_at(live, std::move(trainer), checkpoint);
        reopen(live, shared, std::move(checkpoint));
        throw;
    }
    ++live.status.rewinds;
    publish_moments(live, shared);
    publish_weights(live, shared, false);
    publish_curves(live, shared, true);
}

}  // namespace aft::session

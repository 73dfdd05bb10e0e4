// Rewinding: the run goes back to one of its checkpoints and trains on from there, bit for bit as
// it would have after a resume. What came after is kept as a branch first.
#include <algorithm>
#include <utility>

#include "core/caught.h"
#include "core/files.h"
#include "model/session/run.h"

namespace aft::session {

void Run::rewind(int64_t step) {
    // Everything that can fail because of what was asked is done before anything changes.
    Checkpoint checkpoint = saved_checkpoint(step);
    if (!model_.data_source.empty()) checkpoint.config.data.source = model_.data_source;
    auto trainer = std::make_unique<Trainer>(checkpoint, device_, request_.ranks,
                                             channels_.ending.get_token());
    if (view_.status.state == RunState::running) apply(RunEvent::paused);
    prepare_training();
    if (has_unsaved_steps()) save(SaveKind::scheduled);  // becomes the end of the branch
    // Saving may have thinned out the very step that was asked for.
    const fs::path file = checkpoint_path(run_.path, step);
    if (!fs::exists(file)) write_checkpoint(file, checkpoint);
    const int64_t from = view_.status.step;
    const std::vector<int64_t> saved = checkpoint_steps(run_.path);
    try {
        files_.forget_all();
        const std::string branch = run_.folder->go_back(step).string();
        continue_at(std::move(trainer), checkpoint);
        view_.status.branch = branch;
        record_rewind(from, branch);
    } catch (...) {
        if (trainer && checkpoint_steps(run_.path) == saved) throw;  // nothing has changed
        if (trainer) continue_at(std::move(trainer), checkpoint);
        reopen(std::move(checkpoint));
        throw;
    }
    ++view_.status.rewinds;
    publish_stored_steps();
    publish_weights();
    publisher_.publish_curves(view_, /*at_once=*/true);
}

Checkpoint Run::saved_checkpoint(int64_t step) const {
    AFT_CHECK(!run_.path.empty() && is_run_folder(run_.path),
              "rewind: this model has no run folder with saved steps");
    const std::vector<int64_t> saved = checkpoint_steps(run_.path);
    if (!std::binary_search(saved.begin(), saved.end(), step))
        fail("rewind: step {} is not saved in {}; saved are: {}", step, run_.path,
             saved.empty() ? "none" : fmt::format("{}", fmt::join(saved, ", ")));
    return read_checkpoint(checkpoint_path(run_.path, step));
}

// The folder is there already.
void Run::continue_at(std::unique_ptr<Trainer> trainer, const Checkpoint& checkpoint) {
    pause_at_ = -1;
    run_.loop.reset();  // of the trainer that goes
    model_.trainer = std::move(trainer);
    Status& status = view_.status;
    const int64_t target = status.target_step;
    describe_model(view_, model_.trainer->config(), checkpoint);
    status.target_step = std::max(target, checkpoint.step);
    status.saved_step = checkpoint.step;
    apply(RunEvent::rewound);
    status.error.clear();
    publisher_.drop_answers();  // steps will come a second time
    publisher_.forget_published_step();
}

void Run::record_rewind(int64_t from, const std::string& branch) {
    run_.loop = std::make_unique<TrainingLoop>(*model_.trainer, *run_.folder);
    run_.folder->update_config(config());
    read_logs();
    const std::string kept =
        branch.empty() ? "" : fmt::format(", what came after is kept in {}", branch);
    log_event("rewind", fmt::format("from step {}{}", from, kept));
    log_target();
    view_.status.message = fmt::format("back at step {}{}", view_.status.step, kept);
}

// As a run that was opened at this step: the next start makes the rest.
void Run::reopen(Checkpoint checkpoint) {
    run_.loop.reset();
    model_.trainer.reset();
    run_.folder.reset();
    model_.opened = std::make_shared<const Checkpoint>(std::move(checkpoint));
    apply(RunEvent::reopened);
    // What is in the way of the rewind is in theirs, too: no curves then.
    const std::string problem = error_words([&] { read_logs(); });
    if (!problem.empty()) view_.status.message = "the logs cannot be read: " + problem;
    publish_stored_steps();
    publisher_.publish_checkpoint(model_.opened);
    publisher_.publish_curves(view_, /*at_once=*/true);
}

}  // namespace aft::session

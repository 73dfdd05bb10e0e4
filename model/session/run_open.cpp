// Opening: a new run, a checkpoint file, or a run folder (ours to resume, or another's to
// follow); and what training needs beside the weights, made at its first start. Blocks on files.
#include <algorithm>
#include <cmath>
#include <exception>
#include <utility>

#include "core/caught.h"
#include "core/files.h"
#include "core/json.h"
#include "model/checkpoints/run_paths.h"
#include "model/device.h"
#include "model/distributed/rank_group.h"
#include "model/session/run.h"
#include "model/train/demand.h"
#include "model/train/history.h"
#include "model/train/own_files.h"
#include "model/train/run_lock.h"
#include "model/train/run_state.h"

namespace aft::session {

void Run::open() {
    Status& status = view_.status;
    device_ = parse_device(request_.device);
    status.device = device_.str();
    if (request_.ranks != nullptr)
        status.device += fmt::format(", {} ranks", request_.ranks->size());
    if (request_.path.empty()) {
        open_new();
    } else if (is_run_folder(request_.path)) {
        open_run();
    } else {
        open_file(request_.path);
        run_.path = request_.out.empty() ? new_run_path(config().name).string() : request_.out;
    }
    const bool has_weights = model_.opened != nullptr || model_.trainer != nullptr;
    status.can_train = !status.following && status.task.is_trainable() && has_weights;
    const fs::path read_only = run_.is_old ? find_read_only_folder(run_.path) : fs::path();
    if (status.can_train && !read_only.empty()) {
        status.can_train = false;
        status.message = fmt::format("{} is read-only: {}", read_only.string(), kReadOnlyWords);
    }
    apply(status.following ? RunEvent::followed : RunEvent::opened);
    publisher_.publish_curves(view_, /*at_once=*/true);
}

void Run::open_new() {
    AFT_CHECK(request_.config.has_value(), "nothing to open: no path and no settings");
    model_.trainer = std::make_unique<Trainer>(*request_.config, device_, request_.ranks,
                                               channels_.ending.get_token());
    const Config& fitted = model_.trainer->config();
    run_.path = request_.out.empty() ? new_run_path(fitted.name).string() : request_.out;
    describe_model(view_, fitted, model_.trainer->checkpoint(/*with_optimizer=*/false));
    view_.status.path = run_.path;
    publish_weights();
}

void Run::open_file(const std::string& path) {
    files_.watch(resolve_model(path).string(), /*may_return=*/true);  // before it is read
    auto checkpoint = std::make_shared<Checkpoint>(read_checkpoint(path));
    describe_model(view_, checkpoint->config, *checkpoint);
    view_.status.saved_step = checkpoint->step;
    model_.opened = checkpoint;
    publisher_.publish_checkpoint(checkpoint);
}

void Run::open_run() {
    Status& status = view_.status;
    run_.path = request_.path;
    run_.is_old = true;
    status.config = load_run_config(config_path(run_.path).string());
    constexpr uint64_t kMostBytes = uint64_t{16} << 20;
    const nlohmann::json said = read_json_file(config_path(run_.path), kMostBytes);
    status.names_rates = said.contains("train") && said["train"].contains("learning_rate");
    status.following = is_run_locked(run_.path);
    read_metrics();
    read_run_events(view_, run_.path);
    publish_stored_steps();
    if (status.following && checkpoint_steps(run_.path).empty()) {
        show_without_weights(said.contains("model"));
        status.message = "waiting for the first checkpoint of this run";
        return;
    }
    if (!status.following && checkpoint_steps(run_.path).empty() && !view_.curves.step.empty())
        return open_logs_alone(said.contains("model"));
    const std::string note = open_newest();
    const int64_t asked = asked_steps(read_events(run_.path), config());
    status.target_step = status.following ? asked : std::max(status.target_step, asked);
    if (status.following && !view_.curves.step.empty() &&
        view_.curves.step.back() > static_cast<double>(status.step)) {  // the log is ahead
        status.step = std::llround(view_.curves.step.back());
        show_last_row(view_);
    }
    if (!status.following) status.message = note.empty() ? steps_without_weights() : note;
}

// The newest checkpoint that can be read: a damaged one hides none of those before it. Returns what
// is to be said of that.
std::string Run::open_newest() {
    const std::vector<int64_t> steps = checkpoint_steps(run_.path);
    std::exception_ptr first;
    for (size_t i = steps.size(); i-- > 0;) {
        const std::string path = checkpoint_path(run_.path, steps[i]).string();
        files_.note_unreadable(path);
        const auto problem = caught([&] { open_file(path); });
        if (problem && !first) first = problem;
        if (problem) continue;
        files_.note_readable(path);
        return first ? fmt::format("step {} is the last that can be read: {}", steps[i],
                                   error_words([&] { std::rethrow_exception(first); }))
                     : "";
    }
    if (first) std::rethrow_exception(first);
    open_file(run_.path);  // an error that says so
    return "";
}

// A net is built once: those of the biases that are shown already, else untrained ones.
NamedTensors Run::weights_beside_biases() const {
    const auto shown = channels_.snapshot.latest();
    if (shown && shown->biases_only) return shown->checkpoint->weights;
    check_demand(config(), device_);
    const Net net(config().model, uint64_t{0});
    NamedTensors weights;
    for (const Parameter& parameter : net.parameters())
        weights.emplace_back(parameter.name, parameter.value.detach());
    return weights;
}

// As weights of which the position biases alone count. False: none are stored, none since the last
// call, or none that can be read since then.
bool Run::publish_stored_biases() {
    const fs::path folder = history_folder(run_.path);
    const std::vector<int64_t> steps = history_steps(folder);
    if (steps.empty() || steps.back() <= view_.status.biases_step) return false;
    const std::string path = history_path(folder, steps.back()).string();
    if (files_.is_unreadable(path)) return false;
    files_.note_unreadable(path);
    const NamedTensors stored = read_history(folder, steps.back());
    files_.note_readable(path);
    auto checkpoint = std::make_shared<Checkpoint>();
    checkpoint->config = config();
    checkpoint->step = steps.back();
    // Thinned out by its owner meanwhile: an older one has been read.
    const std::vector<int64_t> now = history_steps(folder);
    if (std::find(now.begin(), now.end(), steps.back()) == now.end()) return false;
    checkpoint->weights = weights_beside_biases();
    for (auto& [name, value] : checkpoint->weights) {
        const auto found = std::find_if(stored.begin(), stored.end(), [&](const auto& one) {
            return one.first == name && one.second.sizes() == value.sizes();
        });
        if (found != stored.end()) value = found->second;
    }
    describe_model(view_, config(), *checkpoint);
    publisher_.publish_checkpoint(checkpoint, /*biases_only=*/true);
    view_.status.biases_step = checkpoint->step;
    return true;
}

// Step, target and values are those of the log.
void Run::show_without_weights(bool has_settings) {
    Status& status = view_.status;
    // What another process trains is shown as far as it can be read.
    const auto problem = caught([&] {
        if (has_settings) (void)publish_stored_biases();
    });
    if (problem && !status.following) std::rethrow_exception(problem);
    if (has_settings && status.biases_step < 0) {
        status.describe(config());
        status.layers.assign(static_cast<size_t>(config().model.layers), {});
    }
    // Another program's, which has said nothing of its model: its loss is shown as it was logged.
    if (!has_settings) status.task.loss_in_bits = false;
    status.name = config().name;
    status.target_step = asked_steps(read_events(run_.path), config());
    if (view_.curves.step.empty()) return;
    status.step = std::llround(view_.curves.step.back());
    show_last_row(view_);
}

// A run without checkpoints shows what its folder has: settings, curves and stored biases.
void Run::open_logs_alone(bool has_settings) {
    show_without_weights(has_settings);
    view_.status.message =
        "no checkpoint is left of this run: its curves and stored biases can be seen";
}

std::string Run::steps_without_weights() const {
    const NumberColumn& steps = view_.curves.step;
    const int64_t last = steps.empty() ? -1 : std::llround(steps.back());
    if (!model_.opened || last <= model_.opened->step) return "";
    return fmt::format("saved is step {}; {} when training resumes", model_.opened->step,
                       unsaved_steps_text(model_.opened->step, last));
}

void Run::make_trainer() {
    if (model_.trainer) return;
    AFT_CHECK(model_.opened != nullptr, "there is nothing to train: no model is open");
    model_.trainer = std::make_unique<Trainer>(*model_.opened, device_, request_.ranks,
                                               channels_.ending.get_token());
    view_.status.config = model_.trainer->config();
}

void Run::prepare_training() {
    make_trainer();
    view_.status.names_rates = true;  // they are this training's now
    if (run_.folder) return;
    auto folder = run_.is_old ? std::make_unique<RunFolder>(run_.path)
                              : std::make_unique<RunFolder>(run_.path, config());
    const int64_t step = model_.trainer->steps_done();
    if (run_.is_old)
        if (const std::string text = folder->resume_from(step, config()); !text.empty())
            run_.unsaved_steps = text;  // to be shown by the next start, whatever fails until then
    files_.forget_all();                // what was dropped comes again
    run_.loop = std::make_unique<TrainingLoop>(*model_.trainer, *folder);
    const bool has_risky_change = std::exchange(run_.has_risky_change, false);
    if (has_risky_change && run_.is_old) folder->keep_save(step, SaveKind::before_change);
    if (has_risky_change && !run_.is_old) run_.loop->save(SaveKind::before_change);
    run_.folder = std::move(folder);
    view_.status.path = run_.path;
    if (!run_.unsaved_steps.empty()) read_logs();  // its rows after this step are dropped
    if (!run_.is_old && !request_.path.empty())
        add_event(view_, "branch", note_branch(*run_.folder, step, request_.path));
    log_target();
    model_.opened.reset();
    run_.is_old = true;
}

}  // namespace aft::session

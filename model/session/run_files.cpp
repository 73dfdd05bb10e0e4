// Files of the open model that another program has replaced: what was read from them is dropped,
// and the status says so.
#include <algorithm>
#include <utility>

#include "core/caught.h"
#include "model/device.h"
#include "model/session/run.h"

namespace aft::session {

namespace {

std::string replaced_words(const std::vector<std::string>& replaced) {
    if (replaced.size() == 1) return replaced.front() + " was replaced on disk";
    return fmt::format("{} files of this run were replaced on disk, {} first", replaced.size(),
                       replaced.front());
}

}  // namespace

bool Run::check_files() {
    const std::vector<std::string> replaced = files_.take_replaced();
    if (replaced.empty()) return false;
    std::string words = replaced_words(replaced);
    const auto snapshot = channels_.snapshot.latest();
    if (!snapshot) {  // it could not be opened
        view_.status.message = words + "; open it again";
        return true;
    }
    // Answers so far were of the old files. The same weights once more, so that later ones count.
    publisher_.drop_answers();
    publish_stored_steps();
    publisher_.publish_checkpoint(snapshot->checkpoint, snapshot->biases_only);
    const bool is_shown = model_.opened && std::find(replaced.begin(), replaced.end(),
                                                     model_.opened->path) != replaced.end();
    if (is_shown && model_.trainer)
        words += "; training continues from what was read before";
    else if (is_shown)
        words += reload();
    else
        words += "; stored moments are read again";
    view_.status.message = words;
    return true;
}

// The model that is shown, read again. Where that cannot be, what is shown stays.
std::string Run::reload() {
    const std::string shown = "; what is shown was read before, open it again to see the new one";
    auto fresh = std::make_shared<Checkpoint>();
    const std::string problem =
        error_words([&] { *fresh = read_checkpoint(model_.opened->path); }, plain_words);
    if (!problem.empty()) return fmt::format(" and cannot be read ({}){}", problem, shown);
    const auto model_of = [](const Config& config) { return config_to_json(config)["model"]; };
    if (model_of(fresh->config) != model_of(model_.opened->config) ||
        fresh->config.model.maps != model_.opened->config.model.maps)
        return " by another model" + shown;
    if (!model_.data_source.empty()) fresh->config.data.source = model_.data_source;
    model_.opened = std::move(fresh);
    Status& status = view_.status;
    const int64_t step = status.step, target = status.target_step;
    describe_model(view_, model_.opened->config, *model_.opened);
    status.target_step = status.following ? target : std::max(status.target_step, target);
    if (status.following) status.step = std::max(status.step, step);
    status.saved_step = model_.opened->step;
    publisher_.publish_checkpoint(model_.opened);
    return " and read again";
}

}  // namespace aft::session

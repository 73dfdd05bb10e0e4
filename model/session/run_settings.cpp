// Settings that change while a run is open: live ones while it trains, any before its first step,
// and the location of the data of an opened model.
#include <algorithm>
#include <utility>

#include "core/caught.h"
#include "model/session/run.h"

namespace aft::session {

namespace {

std::string value_in(Config config, const std::string& key) {
    SettingRows rows = config.rows();
    const Setting* const row = find_setting(rows, key);
    return row != nullptr ? value_text(*row) : "";
}

// Takes over a change into the values that a setting had. True: it has one of them again.
bool goes_back(std::vector<std::string>& values, const std::string& before,
               const std::string& after) {
    if (values.empty() || values.back() != before) values = {before};
    if (before == after) return false;
    const auto known = std::find(values.begin(), values.end(), after);
    if (known == values.end()) {
        values.push_back(after);
        return false;
    }
    values.erase(known + 1, values.end());
    return true;
}

}  // namespace

void Run::change(const std::string& key, const std::string& value) {
    if (key == "train.steps") return change_target(value);
    if (model_.trainer && !run_.folder && !model_.opened) return change_new_run(key, value);
    make_trainer();
    const bool is_saved = save_before(key, value);
    const std::string before = value_in(config(), key);
    model_.trainer->set(key, value);
    Status& status = view_.status;
    status.config = model_.trainer->config();
    const bool is_undone = goes_back(set_values_[key], before, value_in(config(), key));
    log_event(key == "train.learning_rate" ? "learning-rate" : "setting",
              key + " = " + value + std::string(is_undone ? kUndone : ""));
    status.message = key + " = " + value;
    if (is_saved) status.message += fmt::format("; step {} is saved", status.step);
}

void Run::change_target(const std::string& value) {
    Config config = view_.status.config;
    SettingRows rows = config.rows();
    set_from_text(rows, "train.steps", value);
    view_.status.target_step = config.train.steps;
    log_target();
    view_.status.message = "train.steps = " + value;
}

// Nothing has been trained: another trainer in place of this one.
void Run::change_new_run(const std::string& key, const std::string& value) {
    Config config = view_.status.config;
    SettingRows rows = config.rows();
    set_from_text(rows, key, value);
    config.check();
    model_.trainer =
        std::make_unique<Trainer>(config, device_, request_.ranks, channels_.ending.get_token());
    const int64_t target = view_.status.target_step;
    describe_model(view_, model_.trainer->config(),
                   model_.trainer->checkpoint(/*with_optimizer=*/false));
    view_.status.target_step = target;
    publisher_.forget_published_step();
    publish_weights();
    view_.status.message = key + " = " + value;
}

// True if the step before this change was saved: training may diverge after it. Error if it could
// not be; the setting then stays as it was.
bool Run::save_before(const std::string& key, const std::string& value) {
    Config config = view_.status.config;
    SettingRows rows = config.rows();
    const Setting* row = find_setting(rows, key);
    if (!row || !row->risky || model_.trainer->steps_done() == 0) return false;
    const std::string before = value_text(*row);
    set_from_text(rows, key, value);
    config.check();
    if (value_text(*row) == before) return false;
    if (!run_.folder) {
        run_.has_risky_change = true;
        return false;
    }
    const std::string problem = error_words([&] { save(SaveKind::before_change); });
    if (problem.empty()) return true;
    fail("{} stays {}: the step before it could not be saved: {}", key, before, problem);
}

void Run::move_data(const std::string& source) {
    Status& status = view_.status;
    model_.data_source = status.config.data.source = source;
    if (model_.opened) {
        auto moved = std::make_shared<Checkpoint>(*model_.opened);
        moved->config.data.source = source;
        model_.opened = std::move(moved);
        if (status.state == RunState::error) apply(RunEvent::data_moved);
        status.error.clear();
    }
    publisher_.publish_status(status, /*at_once=*/true);
    channels_.items.clear();
}

}  // namespace aft::session

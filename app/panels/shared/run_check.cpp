#include "app/panels/shared/run_check.h"

#include "core/json.h"

namespace aft::app {
namespace {

RunCheck::Answer check(const Config& given, std::string of) {
    RunCheck::Answer out;
    out.of = std::move(of);
    Config config = given;
    try {
        config.check();
    } catch (const std::exception& error) {
        out.settings_problem = error.what();
        return out;
    }
    try {
        config = fit_to_data(config);
    } catch (const std::exception& error) {
        out.data_problem = error.what();
        return out;
    }
    try {
        const nlohmann::json figures = estimate(config);
        out.parameters = figures.value("parameters", 0.0);
        out.weights_bytes = figures.value("weights_bytes", 0.0);
        out.training_bytes = figures.value("training_bytes", 0.0);
        out.activations_bytes = figures.value("activations_bytes", 0.0);
        out.seconds = figures.value("seconds", 0.0);
    } catch (const std::exception& error) {
        out.settings_problem = error.what();
    }
    return out;
}

}  // namespace

void RunCheck::refresh(const Config& config) {
    wanted_ = json_text(config_to_json(config));
    const auto done = box_->latest();
    const bool is_reading = !asked_.empty() && (!done || done->of != asked_);
    if (is_reading || asked_ == wanted_) return;  // one at a time; the newest comes next
    asked_ = wanted_;
    reader_ = std::jthread([config, of = wanted_, box = box_] {
        box->publish(std::make_shared<const Answer>(check(config, of)));
    });
}

std::shared_ptr<const RunCheck::Answer> RunCheck::answer() const {
    const auto done = box_->latest();
    return done && done->of == wanted_ ? done : nullptr;
}

}  // namespace aft::app

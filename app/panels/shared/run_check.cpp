#include "app/panels/shared/run_check.h"

#include <nlohmann/json.hpp>

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
        out.estimate = estimate(config);
    } catch (const std::exception& error) {
        out.settings_problem = error.what();
    }
    return out;
}

}  // namespace

void RunCheck::refresh(const Config& config) {
    wanted_ = config_to_json(config).dump();
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

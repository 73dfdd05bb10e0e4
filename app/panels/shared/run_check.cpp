#include "app/panels/shared/run_check.h"

#include "core/caught.h"
#include "core/json.h"

namespace aft::app {
namespace {

RunCheck::CheckAnswer check(const Config& given, std::string of, const std::stop_token& stop) {
    RunCheck::CheckAnswer out;
    out.of = std::move(of);
    Config config = given;
    out.settings_problem = error_words([&] { config.check(); });
    if (!out.is_good()) return out;
    out.data_problem = error_words([&] { config = fit_to_data(config, {}, stop).config; });
    if (!out.is_good()) return out;
    out.settings_problem = error_words([&] { out.estimate = estimate(config); });
    return out;
}

}  // namespace

void RunCheck::refresh(const Config& config) {
    wanted_ = json_text(config_to_json(config));
    if (checks_.is_busy() || asked_ == wanted_) return;  // one at a time; the newest comes next
    asked_ = wanted_;
    checks_.start([config, of = wanted_](const auto& publish, const std::stop_token& stop) {
        publish(check(config, of, stop));
    });
}

std::shared_ptr<const RunCheck::CheckAnswer> RunCheck::answer() const {
    const auto done = checks_.latest();
    return done && done->of == wanted_ ? done : nullptr;
}

}  // namespace aft::app

#include "model/train/stop_rule.h"

#include <fmt/format.h>

#include <cmath>

#include "model/traits.h"

namespace aft {

namespace {

// One batch says little: a loss counts with 0.95 of the weight of the one after it, about the last
// 20 steps, and not before there are so many.
constexpr double kWeight = 0.95;
constexpr int64_t kFewestSteps = 20;

}  // namespace

void StopRule::add(const StepReport& report, double seconds, const Config& config) {
    const auto asked = config.train.own.read<StopSettings>();
    if (asked.until_minutes != asked_.until_minutes) counted_.seconds = 0;
    asked_ = asked;
    reason_.clear();
    if (!report.failure.empty()) return;
    counted_.seconds += seconds;
    const auto loss = report.values.find(task_traits(config.model).loss_key());
    if (loss != report.values.end() && std::isfinite(loss->second)) {
        counted_.sum = kWeight * counted_.sum + loss->second;
        counted_.weight = kWeight * counted_.weight + 1;
        counted_.steps += 1;
    }
    reason_ = met(report, config);
    if (!reason_.empty()) counted_ = {};
}

std::string StopRule::met(const StepReport& report, const Config& config) const {
    const TaskTraits& task = task_traits(config.model);
    const std::string unit = task.loss_in_bits ? task.metric_words : "nats";
    const double mean = counted_.weight > 0 ? counted_.sum / counted_.weight : NAN;
    if (asked_.until_loss > 0 && counted_.steps >= kFewestSteps && mean <= asked_.until_loss)
        return fmt::format("the loss is {:.4g} {} (smoothed), at or below {:g}", mean, unit,
                           asked_.until_loss);
    const auto held_out = report.values.find("validation." + task.loss_key());
    if (asked_.until_validation > 0 && held_out != report.values.end() &&
        held_out->second <= asked_.until_validation)
        return fmt::format("the validation loss is {:.4g} {}, at or below {:g}", held_out->second,
                           unit, asked_.until_validation);
    constexpr double kMinute = 60;
    if (asked_.until_minutes > 0 && counted_.seconds >= kMinute * asked_.until_minutes)
        return fmt::format("{:g} minutes of training are over", asked_.until_minutes);
    return "";
}

}  // namespace aft

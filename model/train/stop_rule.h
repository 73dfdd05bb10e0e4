// StopRule: whether training ends before its target step, as train.until_loss, .until_validation
// and .until_minutes say (model/training_settings.h). Asked by the loop after each step. Trainer
// thread.
#pragma once
#include <string>

#include "model/train/trainer.h"
#include "model/training_settings.h"

namespace aft {

class StopRule {
  public:
    // After a step that took so long. When one is met, all of them count anew with the next step:
    // training that is resumed continues until one is met again.
    void add(const StepReport& report, double seconds, const Config& config);
    // What the last step has met: "the loss is 1.19 bits/dim (smoothed), at or below 1.2"; "" =
    // nothing.
    [[nodiscard]] const std::string& reason() const { return reason_; }

  private:
    struct StopCounts {
        double sum = 0, weight = 0;  // of the loss as it is shown
        int64_t steps = 0;
        double seconds = 0;
    };
    [[nodiscard]] std::string met(const StepReport& report, const Config& config) const;

    StopSettings asked_;  // at the last step
    StopCounts counted_;
    std::string reason_;
};

}  // namespace aft

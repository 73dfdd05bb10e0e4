// RunCheck: whether a new run can start as its settings stand, and what it will take: reads its
// data as the start would and estimates memory and time, in a thread of its own. Window thread;
// every method returns at once.
#pragma once
#include <memory>
#include <string>

#include "app/state/background.h"
#include "model/jobs/train.h"

namespace aft::app {

class RunCheck {
  public:
    struct CheckAnswer {
        std::string of;                              // the settings it belongs to, as JSON
        std::string data_problem, settings_problem;  // "" = none
        Estimate estimate;                           // zeros where there is a problem
        [[nodiscard]] bool is_good() const {
            return data_problem.empty() && settings_problem.empty();
        }
    };
    // Begins to check these settings unless that is done or under way.
    void refresh(const Config& config);
    // For the settings given last; nullptr while they are being checked.
    [[nodiscard]] std::shared_ptr<const CheckAnswer> answer() const;
    // The newest answer, perhaps to earlier settings; nullptr before the first.
    [[nodiscard]] std::shared_ptr<const CheckAnswer> last() const { return checks_.latest(); }

  private:
    std::string wanted_, asked_;
    Background<CheckAnswer> checks_;
};

}  // namespace aft::app

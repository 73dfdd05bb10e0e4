// ClassGuess: what a classifier says about the picture that is looked at: the predicted class, the
// probabilities, the true class where the data name it. A section of the Inspector. Window thread.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "app/panels/shared/watch.h"
#include "app/state/ui.h"

namespace aft::app {

class ClassGuess {
  public:
    // Nothing where the model has no classes or there is no picture.
    void draw(PaneContext& ui);

  private:
    Watch watch_;
};

// Classes by their probability, the most likely first; at most `most` of them, and class `always`
// last where it is not among them (-1 = none).
[[nodiscard]] std::vector<int64_t> likely_classes(std::span<const float> log_probabilities,
                                                  size_t most, int64_t always);

}  // namespace aft::app

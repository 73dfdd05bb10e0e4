// WatchedExperiments: the part of Watched below the pins: standing experiments with their names,
// what each recipe costs as curves over the steps, and each completion as a strip of small
// pictures. Window thread, inside a frame.
#pragma once
#include <vector>

#include "app/panels/train/completion_strip.h"
#include "app/panels/train/watched_costs.h"

namespace aft::app {

class WatchedExperiments {
  public:
    // Once a frame; asks for the next loss that is missing only with `may_ask`.
    void update(PaneContext& ui, bool may_ask);
    void draw(PaneContext& ui);
    [[nodiscard]] bool is_measuring() const { return is_measuring_; }

  private:
    std::vector<RecipeSeries> recipes_;  // as ViewState::experiments has them
    std::vector<CompletionStrip> strips_;
    bool is_measuring_ = false;
};

}  // namespace aft::app

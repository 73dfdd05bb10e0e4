// RecipeSeries: what a recipe costs at every saved step: the loss of a batch without and with it,
// one step after the other, so that training and other panes continue. Window thread; returns at
// once.
#pragma once
#include <map>
#include <string>

#include "app/panels/shared/batch_losses.h"
#include "app/panels/train/series_source.h"
#include "app/state/experiments.h"

namespace aft::app {

// At one step; losses in nats, means over the batch.
struct RecipePoint {
    double untouched = 0, changed = 0;
    PairedChange change{};
    std::string error{};  // why this step cannot carry it; then there are no numbers
};

class RecipeSeries {
  public:
    // Once a frame. Another experiment, another model, other data, or a rewind (after which a step
    // may come a second time) begins anew. Asks only with `may_ask`: those that share the worker
    // take turns. True: nothing is missing, or nothing can be had.
    bool update(PaneContext& ui, const WatchedRecipe& watched, bool may_ask);
    // Of the steps that are saved now.
    [[nodiscard]] const std::map<int64_t, RecipePoint>& points() const { return points_; }
    [[nodiscard]] size_t missing() const { return missing_; }
    [[nodiscard]] int64_t part_size() const { return losses_.part_size(); }
    // Why the examples cannot be had; "" = they can.
    [[nodiscard]] const std::string& item_error() const { return losses_.item_error(); }

  private:
    [[nodiscard]] bool is_of(const PaneContext& ui, const WatchedRecipe& watched) const;
    // False: it is on its way.
    bool measure(PaneContext& ui, int64_t step);

    WatchedRecipe watched_;
    BatchLosses losses_;
    std::map<int64_t, RecipePoint> points_;
    SeriesSource source_;
    size_t missing_ = 0;
};

}  // namespace aft::app

// RankCosts: what the loss of the pinned batch gains when a layer's (and head's) w keeps its
// largest singular values alone, over their number, beside the energy that they hold. Window
// thread, inside a frame; returns at once.
#pragma once
#include <vector>

#include "app/panels/shared/batch_losses.h"
#include "app/panels/shared/watch.h"

namespace aft::app {

class RankCosts {
  public:
    // Once a frame. head -1: the layer has one. The loss is measured while that is switched on.
    void update(PaneContext& ui, int64_t layer, int64_t head);
    // The switch, the chosen rank, and the command that measures it; below, what it holds and
    // costs.
    void draw_tools(PaneContext& ui);
    [[nodiscard]] bool is_on() const { return is_on_; }
    // Energy, and the loss where it is switched on, over the rank.
    void draw_plots(PaneContext& ui, float tall);

  private:
    [[nodiscard]] int64_t full() const;  // all singular values; 0 = not read yet
    [[nodiscard]] std::vector<int64_t> ranks() const;
    [[nodiscard]] Recipe recipe_of(int64_t rank) const;
    [[nodiscard]] double held(int64_t rank) const;  // share of the energy
    [[nodiscard]] std::string words_of(const ViewState& ui, int64_t rank) const;
    void draw_energy(PaneContext& ui, ImVec2 size);
    void draw_loss(PaneContext& ui, ImVec2 size);

    Watch singular_;
    BatchLosses losses_;
    int64_t layer_ = 0, head_ = -1, chosen_ = 4;
    int64_t most_ = 2;  // full(), and while it is not there what it was last
    bool is_on_ = false;
};

}  // namespace aft::app

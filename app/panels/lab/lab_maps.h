// LabMaps: the position bias that the chosen intervention changes, before and after the recipe, in
// one range. Window thread, inside a frame.
#pragma once
#include <array>
#include <string>

#include "app/panels/shared/bias_map.h"
#include "app/panels/shared/watch.h"
#include "app/state/ui.h"
#include "viz/map.h"

namespace aft::app {

class LabMaps {
  public:
    // recipe: of all that is on. Nothing where the chosen one changes other weights.
    void draw(PaneContext& ui, const Recipe& recipe);

  private:
    struct LabMap {
        Watch watch;
        AskTurn turn;
        BiasMap map;
        viz::Map view;
        uint64_t version = 0;
    };
    struct MapOf {
        BiasForm form;
        int64_t layer = 0, head = 0;
        Blocks block{};
    };
    void update(PaneContext& ui, const MapOf& of, const Recipe& recipe);
    void draw_map(PaneContext& ui, const MapOf& of, size_t which, const viz::Box& box);
    // On the map before: the region of the chosen intervention is dragged there.
    void take_region(PaneContext& ui, const MapOf& of, const viz::MapReply& reply);

    std::array<LabMap, 2> maps_;  // before, after
    viz::MapRegion dragged_;      // while it is
    int64_t head_ = -1;
    Range range_;
    uint64_t versions_ = 0;
};

}  // namespace aft::app

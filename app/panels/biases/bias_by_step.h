// The map at up to four stored steps in a row, on the range of the chosen one. Window thread,
// inside a frame.
#pragma once
#include <vector>

#include "app/panels/biases/bias_tools.h"
#include "viz/atlas.h"

namespace aft::app {

struct BiasMoment {
    int64_t step = -1;
    Watch watch;
    BiasMap map;
    uint64_t version = 0, built = 0;  // of the fields; what `map` was made of
};

class BiasBySteps {
  public:
    // Nothing is drawn of a run with one stored step. A click shows its step.
    void draw(PaneContext& ui, const BiasForm& form, BiasLayers& layers, float width);
    // Of all that draw() puts below the cursor, at most.
    [[nodiscard]] static float height(const PaneContext& ui, const BiasForm& form, float width);

  private:
    std::vector<BiasMoment> moments_;
    viz::Atlas strip_;
    uint64_t versions_ = 0;
};

}  // namespace aft::app

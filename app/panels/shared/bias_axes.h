// The numbers beside a map of position biases. Window thread.
#pragma once
#include "app/panels/shared/bias_map.h"
#include "app/panels/shared/positions.h"
#include "viz/map.h"

namespace aft::app {

// Positions, or offsets of bands and kernels; lines of the picture as steps. block: values of a
// drawn cell.
void set_bias_axes(viz::MapView& view, const BiasForm& form, const Positions& positions,
                   Blocks block);

}  // namespace aft::app

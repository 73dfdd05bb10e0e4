// Columns of the curves in the unit of the screen; rows are appended as they come. Window thread.
#pragma once
#include "core/number_column.h"
#include "model/metrics.h"

namespace aft::app {

struct PlotSeries {
    NumberColumn step;  // of the curves that they are made of
    size_t rows = 0;    // of these, taken so far
    bool in_bits = true;
    NumberColumn train, validation_step, validation, speed;  // bits or nats; steps per second

    // Takes at most kRowsPerFrame rows, so that a long run holds up no frame; true if rows are left
    // for the next one. Other curves, or another unit, begin anew.
    bool refresh(const Curves& curves, bool loss_in_bits);
};

}  // namespace aft::app

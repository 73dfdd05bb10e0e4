// Baselines: what simple models without a net cost on the same pictures, in bits per dimension:
// the entropy of a histogram of values, or of residuals modulo the levels, over all examples. It is
// fitted to the very data that it is measured on: a lower bound of what such a coder costs.
// Any thread. Reads the pictures once; blocks.
#pragma once
#include "core/progress.h"
#include "model/data/chosen.h"
#include "model/data/source.h"

namespace aft {

struct Baselines {
    double unigram = 0;             // the values themselves
    double left_neighbour = 0;      // minus the left pixel, same channel (half the levels if none)
    double previous_sub_pixel = 0;  // minus the sub-pixel before it in raster order
    // Minus LOCO-I's median edge detector and the residual that the channel before had; one
    // histogram per channel.
    double median_edge = 0;
};

// Throws Interrupted.
[[nodiscard]] Baselines measure_baselines(const DataSource& source, Split split,
                                          const ChosenExamples& chosen, const JobControl& control);

}  // namespace aft

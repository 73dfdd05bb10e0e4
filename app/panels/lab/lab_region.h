// The rectangle of targets and sources that an intervention names by its options, and where it
// lies on a map. Pure functions; any thread.
#pragma once
#include <cstdint>

#include "app/panels/shared/bias_map.h"
#include "model/recipe.h"
#include "viz/map.h"

namespace aft::app {

// Both ends are part of it. Of kernels the rows and columns of taps, or taps alone (sources).
struct PairRegion {
    int64_t first_target = -1, last_target = -1, first_source = -1, last_source = -1;
    [[nodiscard]] bool operator==(const PairRegion&) const = default;
};

// It has options for a region, or for one target and source.
[[nodiscard]] bool takes_region(const InterventionInfo& info);
[[nodiscard]] PairRegion region_of(const Intervention& one, const InterventionInfo& info);
// Of a single target and source the first ones. What is negative stays as it is.
void set_region(const PairRegion& region, const InterventionInfo& info, Intervention& one);

// Of a band the targets of its rows and all sources between its corners.
[[nodiscard]] PairRegion region_of_cells(const BiasForm& form, Blocks block,
                                         const viz::MapRegion& cells);
// Invalid where the region lies outside, and for a band: there it is no rectangle.
[[nodiscard]] viz::MapRegion cells_of_region(const BiasForm& form, Blocks block,
                                             const PairRegion& region);

}  // namespace aft::app

// `afterimage compare ...`: two moments of models against each other, and a map of both. Pure;
// window thread.
#pragma once
#include <cstdint>
#include <string>

#include "app/state/map_display.h"
#include "core/compare/map_compare.h"

namespace aft::app {

struct MapsToCompare {
    std::string a, b;                  // run folders or checkpoints
    int64_t step_a = -1, step_b = -1;  // stored ones; -1 = the newest, or that of the checkpoint
    int64_t layer = 0, head = -1;      // of a; head -1: there is one map
    int64_t head_b = -1;               // in place of the matched one
    Quantity quantity = Quantity::w;
    Gauge gauge = Gauge::fixed;
    bool is_kernel = false, matches = true, matches_layers = false;
    std::string view = "difference", file = "difference.npy";
};
[[nodiscard]] std::string compare_command(const MapsToCompare& maps);
// By what the largest changes are chosen where this quantity is shown.
[[nodiscard]] ChangeMeasure measure_of(Quantity quantity);

}  // namespace aft::app

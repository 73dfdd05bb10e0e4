// ReachSums: how far and in which direction targets look by their position bias alone, row block by
// row block. For the probes "reach", "window" and "formation"; their thread.
#pragma once
#include <ATen/core/Tensor.h>

#include "model/probe/parts.h"

namespace aft::probe {

// Where the targets and what the sources carry stand, [T]; -1: nowhere (start or class token).
struct Places {
    at::Tensor target, source;        // pixel or token
    int64_t width = 1, channels = 1;  // of the grid; tokens of one pixel
};
// Of a mixer alone they are those of its grid: of maps alone that of the layer.
[[nodiscard]] Places places_of(const ModelConfig& model, int64_t tokens, int64_t layer);

class ReachSums {
  public:
    ReachSums(int64_t heads, Places places);
    // share: [heads, rows, T], softmax of w over the visible sources, of the targets from `first`
    // on.
    void add(const at::Tensor& share, int64_t first);
    // [heads, 8]: within 50 %, within 90 %, mean distance, left, right, above, below, start.
    [[nodiscard]] at::Tensor numbers() const;
    // [heads, T + 1]: what lies at each distance, of places that are somewhere.
    [[nodiscard]] const at::Tensor& by_distance() const { return by_distance_; }

  private:
    Places places_;
    at::Tensor by_distance_;  // [heads, T + 1], shares summed over the targets
    at::Tensor directions_;   // [heads, 5]
    int64_t targets_ = 0;
};

// Of rows of w: what a target gives to each source by the bias alone; 0 where nothing is visible.
[[nodiscard]] at::Tensor prior_share(const BiasRows& rows);

}  // namespace aft::probe

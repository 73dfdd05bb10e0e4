// What a layer costs against the length, as a log-log plot with a line for each mixer. Pure.
#pragma once
#include <string>
#include <vector>

#include "core/figure/scene.h"
#include "model/jobs/cost.h"

namespace aft::app {

struct CostQuantity {
    std::string words;  // with its unit: "training step, GFLOP"
    double (*value)(const CostRow&) = nullptr;
};

// Those of training, and of decoding where the model predicts token by token.
[[nodiscard]] std::vector<CostQuantity> cost_quantities(bool decodes);
[[nodiscard]] FigureScene cost_scene(const CostResult& result);

}  // namespace aft::app

// The parts of the picture that `bench --plot` writes. Pure functions, any thread. No LibTorch.
#pragma once
#include <nlohmann/json.hpp>

#include "bench/report/svg.h"

namespace aft::bench {

inline constexpr double kPictureWidth = 1120, kPictureMargin = 28;

// Both draw from `top` down and return where they end; nothing to draw: `top`.
[[nodiscard]] double draw_growth(Svg& svg, const nlohmann::json& row, double top);
[[nodiscard]] double draw_bars(Svg& svg, const nlohmann::json& workloads, double top);

}  // namespace aft::bench

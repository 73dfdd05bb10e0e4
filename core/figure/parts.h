// What the parts of a figure draw with: colours of the ground, words, the pen's place. For the
// files of core/figure only.
#pragma once
#include "core/figure/scene.h"
#include "core/images/plot_colors.h"

namespace aft {

struct FigureInk {
    PlotColors colors;
    uint32_t hatch_ground = 0, hatch_line = 0;
    bool is_dark = false;
};

inline constexpr double kFigureMargin = 24, kFigureText = 12;

// Both draw from `at` on and return the box that they took.
[[nodiscard]] DrawBox draw_grid(FigureDrawing& to, const FigureInk& ink, const FigureGrid& grid,
                                DrawPoint at);
[[nodiscard]] DrawBox draw_plot(FigureDrawing& to, const FigureInk& ink, const FigurePlot& plot,
                                DrawPoint at);

// The colouring of a key on this ground.
[[nodiscard]] Coloring coloring_on(const FigureInk& ink, const ColorKey& key);
// A colour bar along its longer side, with numbers right of it or below it.
void draw_key(FigureDrawing& to, const FigureInk& ink, const ColorKey& key, const DrawBox& box);
// How much space its numbers take right of a standing bar.
[[nodiscard]] double key_numbers_width(const ColorKey& key);

}  // namespace aft

// Overlay images of completions: numbers per pixel in colour over what was filled in, the known
// part darkened. Any thread; no state.
#pragma once
#include <vector>

#include "app/state/completion_choice.h"
#include "core/images/colormap.h"
#include "core/images/image.h"
#include "viz/image_grid.h"

namespace aft::app {

// Entropy or surprise in bits per sub-pixel [T]; NaN where nothing was drawn.
[[nodiscard]] const std::vector<float>& overlay_values(const Completion& completion, size_t sample,
                                                       Overlay overlay);
// Mean over the channels of each pixel [height * width]; NaN where no channel has a value.
[[nodiscard]] std::vector<float> pixel_means(const std::vector<float>& values, int64_t channels);
[[nodiscard]] Image overlay_image(const viz::TokenImage& image, const std::vector<float>& values);
[[nodiscard]] Image overlay_image(const viz::TokenImage& image, const std::vector<float>& values,
                                  const Coloring& coloring);
// 0 to log2(levels): the same for every sample, so that colours compare.
[[nodiscard]] Coloring overlay_coloring(int64_t levels);

}  // namespace aft::app

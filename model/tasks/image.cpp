// image: autoregression over sub-pixels in raster order; loss in nats per sub-pixel, reported in
// bits per dimension.
#include "model/tasks/task.h"

namespace aft {

TaskRoom image_task() {
    return {.info = {"image", "Autoregression over the sub-pixels of a picture, in raster order."},
            .traits = {.tokens = TokenKind::values,
                       .metric = "bits_per_dim",
                       .metric_words = "bits/dim"},
            .grid = grid_of_values,
            .metric = bits_of,
            .evaluate = evaluate_sequence};
}

}  // namespace aft

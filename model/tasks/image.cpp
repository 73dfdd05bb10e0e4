// image: autoregression over sub-pixels in raster order; loss in nats per sub-pixel, reported in
// bits per dimension.
#include "model/tasks/sequence.h"

namespace aft {

TaskRoom image_task() {
    return {{"image", "Autoregression over the sub-pixels of a picture, in raster order."},
            "bits_per_dim",
            "bits/dim",
            [](const Net& net, const Batch& batch, const Pass& pass, double) {
                return evaluate_sequence(net, batch, pass, "bits_per_dim");
            }};
}

}  // namespace aft

// text: autoregression over bytes; loss in nats per byte, reported in bits per byte.
#include "model/tasks/sequence.h"

namespace aft {

TaskRoom text_task() {
    return {{"text", "Autoregression over the bytes of a text."},
            "bits_per_byte",
            "bits/byte",
            [](const Net& net, const Batch& batch, const Pass& pass, double) {
                return evaluate_sequence(net, batch, pass, "bits_per_byte");
            }};
}

}  // namespace aft

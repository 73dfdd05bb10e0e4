// text: autoregression over bytes; loss in nats per byte, reported in bits per byte.
#include "model/tasks/task.h"

namespace aft {

TaskRoom text_task() {
    return {.info = {"text", "Autoregression over the bytes of a text."},
            .traits = {.tokens = TokenKind::bytes,
                       .metric = "bits_per_byte",
                       .metric_words = "bits/byte",
                       .examples = "texts"},
            .grid =
                [](const ModelConfig& model) {
                    return TokenGrid{1, model.length};
                },
            .metric = bits_of,
            .evaluate = evaluate_sequence};
}

}  // namespace aft

// text: autoregression over bytes; loss in nats per byte, reported in bits per byte.
#include "model/tasks/task.h"

namespace aft {

namespace {

struct TextSettings {
    int64_t length = 256;
    void visit(SettingRows& rows) {
        rows.push_back(
            number_row("model.length", &length, "Bytes of a text window.", {1, 1e9, "bytes"}));
    }
};

}  // namespace

TaskRoom text_task() {
    return {.info = {"text", "Autoregression over the bytes of a text."},
            .traits = {.tokens = TokenKind::bytes,
                       .metric = "bits_per_byte",
                       .metric_words = "bits/byte",
                       .examples = "texts"},
            .grid =
                [](const ModelConfig& model) {
                    return TokenGrid{1, model.own.read<TextSettings>().length};
                },
            .metric = bits_of,
            .evaluate = evaluate_sequence,
            .visit = visit_settings<TextSettings>};
}

}  // namespace aft

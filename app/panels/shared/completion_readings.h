// Readings of a completion that fills in, for every workspace that shows one. Window thread;
// returns at once.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "app/state/ui.h"

namespace aft::app {

// States of the workspace: nothing open, still loading, a model that cannot complete. True: nothing
// else to draw.
[[nodiscard]] bool completion_state(Ui& ui);
// Why a classifier completes nothing, and which workspace shows something of this one.
[[nodiscard]] std::string classifier_words(const ModelView& ui);
[[nodiscard]] bool is_text_model(const ModelView& ui);
// The completion of this session; null before the first one.
[[nodiscard]] std::shared_ptr<const Completion> completion_of(const ViewState& ui);
[[nodiscard]] bool is_completing(const ViewState& ui);
// Asked for, and not one token of it is there.
[[nodiscard]] bool is_completion_awaited(const ViewState& ui);
// Seconds until the next one of those that are asked for beside a running training: the trainer's
// share of the time holds against them, too; all of it means one part in twenty. 0 at rest.
[[nodiscard]] double rest_after(const ViewState& ui, const Completion& completion);
// Positions that are filled, in order; `decided` of them are.
struct FilledPositions {
    std::vector<int64_t> at;
    size_t decided = 0;
};
[[nodiscard]] FilledPositions filled_positions(const Completion& completion);
// [height, width] of what is to be filled in, from a mask of sub-pixels.
[[nodiscard]] std::vector<uint8_t> pixel_mask(const ModelConfig& model,
                                              const std::vector<uint8_t>& unknown);
// Bits per filled sub-pixel (byte) of a sample so far; NaN before the first.
[[nodiscard]] double sample_bits(const Completion& completion, size_t sample);
// The first `count` tokens as bytes: through the model's alphabet, where it has one.
[[nodiscard]] std::vector<uint8_t> shown_bytes(const ModelView& ui,
                                               const std::vector<uint8_t>& tokens, size_t count);
// A text as it is read: control bytes as a middle dot, line ends kept.
[[nodiscard]] std::string shown_text(const ModelView& ui, const std::vector<uint8_t>& tokens,
                                     size_t first, size_t last);

}  // namespace aft::app

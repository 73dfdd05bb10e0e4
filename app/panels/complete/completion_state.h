// What the panes of the Complete workspace share: the request that the selection stands for, and
// readings of the completion that fills in. Window thread; returns at once.
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
// The canvas of the mask, made anew (lower half masked) when the model has another size.
[[nodiscard]] CompletionChoice& completion_choice(Ui& ui);
// The completion of this session; null before the first one.
[[nodiscard]] std::shared_ptr<const Completion> completion_of(const Ui& ui);
[[nodiscard]] bool is_completing(const Ui& ui);
// "of the picture before", "with the mask before": what has changed since it was asked for; "" =
// it belongs to what Source shows.
[[nodiscard]] std::string earlier_words(const Ui& ui, const Completion& completion);

[[nodiscard]] std::string why_not_complete(const Ui& ui);  // "" = it can be run
[[nodiscard]] std::string why_not_continue(const Ui& ui);
[[nodiscard]] std::string why_not_continue_here(const Ui& ui);
void start_completion(Ui& ui);
void continue_completion(Ui& ui);     // all samples, from where they were stopped
void continue_from_position(Ui& ui);  // the chosen sample, from the position looked at
void new_seed(CompletionChoice& choice);

// Positions that are filled, in order; `decided` of them are.
struct FilledPositions {
    std::vector<int64_t> at;
    size_t decided = 0;
};
[[nodiscard]] FilledPositions filled_positions(const Completion& completion);
// The position that Play looks at: the chosen one, else the last decided one; -1 = none.
[[nodiscard]] int64_t position_looked_at(const Ui& ui, const Completion& completion);
// A click on a pixel of a sample: looks at its first channel, at the next one when the pixel was
// looked at already, at the same one when it was so in another sample.
void look_at_pixel(CompletionChoice& choice, int64_t sample, int64_t pixel, int64_t channels);
[[nodiscard]] size_t sample_looked_at(const Ui& ui, const Completion& completion);
// Bits per filled sub-pixel (byte) of a sample so far; NaN before the first.
[[nodiscard]] double sample_bits(const Completion& completion, size_t sample);
// A text as it is read: control bytes as a middle dot, line ends kept.
[[nodiscard]] std::string shown_text(const ModelView& ui, const std::vector<uint8_t>& tokens,
                                     size_t first, size_t last);

}  // namespace aft::app

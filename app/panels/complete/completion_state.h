// What the panes of the Complete workspace share: the request that the selection stands for, and
// readings of the completion that fills in. Window thread; returns at once.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "app/panels/shared/completion_readings.h"
#include "app/state/ui.h"

namespace aft::app {

// The canvas of the mask, reset (lower half masked) when the model has another size.
[[nodiscard]] CompletionChoice& completion_choice(ViewState& ui);
// "of the picture before", "with the mask before": what has changed since it was asked for; "" =
// it belongs to what Source shows.
[[nodiscard]] std::string earlier_words(const ViewState& ui, const Completion& completion);

// The picture is the example that the choice names: a sample or a blank one may stand in its place.
[[nodiscard]] bool is_of_data(const ViewState& ui);

[[nodiscard]] std::string why_not_complete(const ViewState& ui);  // "" = it can be run
[[nodiscard]] std::string why_not_continue(const ViewState& ui);
[[nodiscard]] std::string why_not_continue_here(const ViewState& ui);
void start_completion(PaneContext& ui);
// The mask or prompt, the source and how to sample, as they are now, as a standing experiment.
[[nodiscard]] WatchedCompletion watched_of(const ViewState& ui);
[[nodiscard]] std::string why_not_watched(const ViewState& ui);  // "" = it can be one
void continue_completion(PaneContext& ui);     // all samples, from where they were stopped
void continue_from_position(PaneContext& ui);  // the chosen sample, from the position looked at
void new_seed(CompletionChoice& choice);

// The position that Play looks at: the chosen one, else the last decided one; -1 = none.
[[nodiscard]] int64_t position_looked_at(const ViewState& ui, const Completion& completion);
// A click on a pixel of a sample: looks at its first channel, at the next one when the pixel was
// looked at already, at the same one when it was so in another sample.
void look_at_pixel(CompletionChoice& choice, int64_t sample, int64_t pixel, int64_t channels);
[[nodiscard]] size_t sample_looked_at(const ViewState& ui, const Completion& completion);

}  // namespace aft::app

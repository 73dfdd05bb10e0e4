// A batch in the Complete workspace: which pictures it is of, starting and continuing it, which of
// them is looked at. Window thread; returns at once.
#pragma once
#include <string>

#include "app/state/ui.h"

namespace aft::app {

// Several examples are chosen, and the source is one of the data: a file or a sample is completed
// alone.
[[nodiscard]] bool is_batch_asked(const ViewState& ui);
// "" = its pictures and samples can be held.
[[nodiscard]] std::string why_no_batch(const ViewState& ui);
void start_batch(ViewState& ui);
// What is left of it, from where it was stopped.
[[nodiscard]] bool has_unfinished(const CompletionBatch& batch);
void continue_batch(ViewState& ui);

// The batch is on the screen, not one of its pictures.
[[nodiscard]] bool is_batch_shown(const ViewState& ui);
// It becomes the source, its completion the one that Play, Sampling and overlays are about.
void look_at_picture(ViewState& ui, size_t picture);
// Where the source has become another picture of the batch: looks at that one.
void follow_source(ViewState& ui);
[[nodiscard]] const MarkedSamples& marks_of(const CompletionChoice& choice, size_t picture);

}  // namespace aft::app

// Marks on the samples of the newest completion: starred ones come first, discarded ones are not
// shown; a sample as the next source. Window thread; returns at once.
#pragma once
#include <vector>

#include "app/state/actions.h"
#include "app/state/ui.h"

namespace aft::app {

// Indices of the samples of `count` in the order in which they are shown.
[[nodiscard]] std::vector<size_t> shown_samples(const MarkedSamples& marks, size_t count);
// ", 1 starred, 2 discarded"; "" = none is marked.
[[nodiscard]] std::string marks_words(const MarkedSamples& marks);
// What Source, Attention and Keys show becomes the sample that is looked at: of a text that is
// longer than the model reads, the part that ends at `position` or holds it. Returns the position
// in that part.
int64_t take_sample_as_input(ViewState& ui, const Completion& completion, int64_t position);
// "" = the sample that is looked at can be such an input.
[[nodiscard]] std::string why_no_picture(const ViewState& ui);
// Batch or one picture, star, discard, bring back, use as source: icons beside each other.
void draw_sample_tools(Ui& ui);
[[nodiscard]] float sample_tools_width(const DrawContext& ui);
void add_sample_actions(Actions& actions);

}  // namespace aft::app

// The picture or text that Attention and Keys look at: choosing it, its tokens. Shares
// Selection::image with the other workspaces. Window thread; returns at once.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "app/panels/shared/positions.h"
#include "app/state/ui.h"
#include "viz/image_grid.h"

namespace aft::app {

void show_sample(ViewState& ui, const std::string& split, int64_t index);
void sample_steps(PaneContext& ui);  // arrows to the pictures beside this one
[[nodiscard]] bool is_text(const ModelView& ui);
[[nodiscard]] std::vector<uint8_t> sample_tokens(const ViewState& ui);  // empty while it loads
// Of a text, as they are read.
[[nodiscard]] std::vector<uint8_t> sample_bytes(const ViewState& ui);
[[nodiscard]] std::string sample_words(const ViewState& ui);  // "horse, test 60"
// " The file has 640 x 480 pixels: cropped to 480 x 480." where it was made to fit the model.
[[nodiscard]] std::string fitting_words(const ViewState& ui);

// The chosen target; where there is none yet, one in the lower half that the model knows.
void choose_target(ViewState& ui, const Positions& positions);
// R, G, B: which value of the target pixel is predicted. For pictures of three channels.
void target_channel_tool(PaneContext& ui, const Positions& positions);
[[nodiscard]] int64_t target_channel(const ViewState& ui, const Positions& positions);

// The source that is looked at; not on the grid when there is none.
[[nodiscard]] Positions::GridPosition shown_source(const ViewState& ui, const Positions& positions);
// A place of the sequence, for a text with its byte: "(3, 12, G)", "181 't' 0x74".
[[nodiscard]] std::string place_and_byte(const ViewState& ui, const Positions& positions,
                                         const Positions::GridPosition& place);

// States of the workspace: nothing open, still loading, a mixer alone. True: nothing else to draw.
[[nodiscard]] bool sample_state(Ui& ui);
// A model without rows over its sources: draws why under the title and returns true.
[[nodiscard]] bool no_attention_state(Ui& ui, const std::string& title);
// The picture is being read, or cannot be had: draws that and returns true.
[[nodiscard]] bool sample_missing(Ui& ui);

}  // namespace aft::app

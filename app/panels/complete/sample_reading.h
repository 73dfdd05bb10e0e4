// A sample of a completion as a picture, and what a pixel of it says. For the panes of Complete.
// Window thread; pure.
#pragma once
#include <vector>

#include "app/state/ui.h"
#include "app/widgets/text.h"
#include "model/session.h"
#include "viz/image_grid.h"

namespace aft::app {

// Borrowed from the completion; what is not drawn yet is left open.
[[nodiscard]] viz::TokenImage sample_image(const ModelConfig& model, const Completion& completion,
                                           size_t sample);
// [height, width] of what differs from the sample before, as far as it is drawn; empty: nothing
// does, or that one was of another picture or mask.
[[nodiscard]] std::vector<uint8_t> changed_pixels(const ModelConfig& model,
                                                  const CompletionChoice& choice,
                                                  const Completion& now, size_t sample);
// Levels and surprise of a pixel, its channels side by side, a dash for what is not there.
[[nodiscard]] std::vector<ReadOut> pixel_read_outs(const Completion& completion, size_t sample,
                                                   viz::MapCell at, const ModelConfig& model);

// Of a byte of a text that was drawn: which, its surprise, the entropy of its prediction.
[[nodiscard]] std::vector<ReadOut> byte_read_outs(const ModelView& ui, const Completion& completion,
                                                  size_t sample, int64_t byte);

}  // namespace aft::app

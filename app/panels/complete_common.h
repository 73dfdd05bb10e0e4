// What the panes of the Complete workspace do in common: the picture, the mask, starting and
// continuing a run. Window thread; returns at once.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "app/ui/ui.h"
#include "viz/image_grid.h"

namespace aft::app {

struct Shape {  // of the model's sequence
    int64_t height = 0, width = 0, channels = 1, levels = 256;
    [[nodiscard]] int64_t tokens() const { return height * width * channels; }
};

[[nodiscard]] bool is_text(const Ui& ui);
[[nodiscard]] bool can_complete(const Ui& ui);  // an image or text model is open (not a classifier)
[[nodiscard]] Shape shape_of(const Ui& ui);
// Loads the chosen picture; makes the mask canvas (lower half) when the model's size is new.
void prepare(Ui& ui);
[[nodiscard]] std::span<const uint8_t> picture(const Ui& ui);     // tokens, or empty while it loads
[[nodiscard]] std::vector<uint8_t> unknown_tokens(const Ui& ui);  // the mask per sub-pixel
[[nodiscard]] std::string why_not_complete(const Ui& ui);         // "" = it can be started
void start_completion(Ui& ui);
void continue_from_here(Ui& ui);  // from choice.position with choice.level
[[nodiscard]] bool is_running(const Completion* completion);

// Position that Play shows: the chosen one, or the last decided one that was sampled.
[[nodiscard]] int64_t play_position(const Ui& ui, const Completion& completion);
// -log2 of the probability per filled sub-pixel so far; NaN before the first.
[[nodiscard]] double bits_per_dim(const Completion& completion, size_t sample);
// "y 22, x 9, G" or "byte 31".
[[nodiscard]] std::string position_words(const Ui& ui, int64_t position);
[[nodiscard]] std::string token_text(const Ui& ui,
                                     std::span<const uint8_t> tokens);  // bytes of a text model
[[nodiscard]] viz::TokenImage token_image(const Ui& ui, std::span<const uint8_t> tokens);

}  // namespace aft::app

// SampleOverlay: the numbers per pixel that lie over the samples: entropy, surprise, how far the
// samples spread, or the bits of the original. The choice of them, and the bar that explains their
// colours. Window thread.
#pragma once
#include <memory>
#include <vector>

#include "app/state/ui.h"
#include "core/images/colormap.h"
#include "model/completion.h"

namespace aft::app {

// Standard deviation of the level over the samples, in levels [T]; NaN where nothing was drawn.
[[nodiscard]] std::vector<float> sample_spread(const Completion& completion);
// Of texts: how many of the samples have another token than the most frequent one, % [T].
[[nodiscard]] std::vector<float> sample_disagreement(const Completion& completion);

// Label and choices beside each other.
void draw_overlay_choice(PaneContext& ui);
inline constexpr float kOverlayChoiceWidth = 62 + 334;  // at scale 1

class SampleOverlay {
  public:
    // Of the completion as it is now; before the others of a frame. A spread goes over all samples:
    // it is worked out once for each publication. `original`: bits of the original [T]; without
    // them that overlay is off.
    void update(const ViewState& ui, const std::shared_ptr<const Completion>& completion,
                std::vector<float> original = {});
    [[nodiscard]] bool is_on() const { return overlay_ != Overlay::none; }
    // One line: what the colours are, their bar, their unit. Nothing without an overlay.
    void draw_key(DrawContext& ui) const;
    // Of each sub-pixel [T]; only with an overlay.
    [[nodiscard]] const std::vector<float>& values(const Completion& completion,
                                                   size_t sample) const;
    [[nodiscard]] const Coloring& coloring() const { return coloring_; }
    // Of a text: the colour behind a token; 0 = none, as without an overlay.
    [[nodiscard]] ImU32 ground(const Completion& completion, size_t sample, size_t token) const;
    // Of overlays beside each other: the colours of all go as far.
    void set_top(double top) { coloring_.range.high = top; }
    // "3.20 levels" of a pixel; "" where it has none, or without an overlay.
    [[nodiscard]] std::string words_at(const Completion& completion, size_t sample,
                                       int64_t pixel) const;

  private:
    Overlay overlay_ = Overlay::none;
    bool is_text_ = false;
    int64_t channels_ = 1;
    size_t samples_ = 0;
    std::weak_ptr<const Completion> of_;  // whose spread_ that is
    std::vector<float> spread_, original_;
    Coloring spread_coloring_, coloring_;
};

}  // namespace aft::app

// The picture beside the maps of its tokens, in their size: a place lies at the same spot in both.
// Moves nothing itself. Window thread, inside a frame.
#pragma once
#include "app/panels/shared/sample_input.h"

namespace aft::app {

// Pixels a token at which maps over the picture fit into `area`; so many that the picture's own
// pixels are whole, too, where that costs little.
[[nodiscard]] int token_zoom(const ModelView& ui, const Positions& positions, ImVec2 area);

class PictureBeside {
  public:
    // At the cursor, `zoom` pixels a token, with a target and a source.
    [[nodiscard]] SampleView::Reply draw(PaneContext& ui, int zoom,
                                         const Positions::GridPosition& target,
                                         const Positions::GridPosition& source);

  private:
    [[nodiscard]] SampleView::Reply draw_scaled(PaneContext& ui, int zoom);
    SampleView whole_;             // where a pixel of the picture takes whole ones of the screen
    viz::TokenTexture texture_{};  // where it does not
};

}  // namespace aft::app

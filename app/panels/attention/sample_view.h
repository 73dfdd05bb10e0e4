// The picture beside the maps of its tokens, in their size: a place lies at the same spot in both.
// Moves nothing itself; not for texts. Window thread, inside a frame.
#pragma once
#include "app/panels/shared/sample_input.h"

namespace aft::app {

// Pixels a token at which maps over the picture fit into `area`; so many that the picture's own
// pixels are whole, too, where that costs little.
[[nodiscard]] int token_zoom(const ModelView& ui, const Positions& positions, ImVec2 area);

class SampleView {
  public:
    struct Reply {
        Positions::GridPosition hovered, clicked;
        viz::Box box;
    };
    // At the cursor, `zoom` pixels a token, with a target and a source.
    [[nodiscard]] Reply draw(PaneContext& ui, int zoom, const Positions::GridPosition& target,
                             const Positions::GridPosition& source);

  private:
    [[nodiscard]] Reply draw_whole(PaneContext& ui, const viz::ImageView& view,
                                   const Positions& positions);
    [[nodiscard]] Reply draw_scaled(const PaneContext& ui, int zoom, ImVec2 size) const;
    viz::TokenTexture texture_;
};

}  // namespace aft::app

// The picture that an attention or key map is laid over: grey, so that all colour comes from the
// map, and only where the map has values. Window thread.
#pragma once
#include "app/panels/shared/fold.h"
#include "app/state/ui.h"
#include "viz/image_grid.h"
#include "viz/map.h"

namespace aft::app {

class OverImage {
  public:
    // Puts the sample under `view` if "Over image" is switched on and the model sees pictures.
    void lay_under(PaneContext& ui, const Folded& map, viz::MapView& view);

  private:
    viz::TokenTexture texture_;
};

// Of the attention settings, for a range of shares.
[[nodiscard]] Coloring attention_coloring(const ViewState& ui, const Range& range);
// A folded map at whole pixels in its area, with rings at the selected target and source.
[[nodiscard]] viz::MapView folded_view(const ViewState& ui, const Folded& map, ImVec2 area);

// Switch and opacity, in a label column; remembered in the settings.
void over_image_controls(PaneContext& ui);
[[nodiscard]] std::string over_image_words(const ViewState& ui);  // for captions; empty when off

// Grey, transparent where the map hides its cell.
[[nodiscard]] Image image_under(const viz::TokenImage& image, const Folded& map);

}  // namespace aft::app

// The left part of the Keys pane: the picture and the chosen key map below it, or for a text the
// text itself, coloured by that map; its colour bar. Moves the selection. Window thread.
#pragma once
#include <string>

#include "app/panels/attention/over_image.h"
#include "app/panels/attention/sample_view.h"
#include "app/panels/shared/sample_input.h"
#include "viz/text_map.h"

namespace aft::app {

struct ChosenKey {
    const Folded* map = nullptr;  // nullptr: still being computed
    Coloring coloring{};
    std::string title{};  // "Layer 2, channel 40"
};

class KeyChosen {
  public:
    void draw(PaneContext& ui, const Positions& positions, const ChosenKey& key, ImVec2 available);

  private:
    void draw_text(PaneContext& ui, const Positions& positions, const ChosenKey& key,
                   ImVec2 available);
    void draw_picture(PaneContext& ui, const Positions& positions, int zoom);
    float draw_map(PaneContext& ui, const Positions& positions, const ChosenKey& key, int zoom);
    SampleView sample_;
    viz::Map map_;
    viz::TextMap text_;
    OverImage under_;
};

}  // namespace aft::app

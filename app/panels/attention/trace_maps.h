// TraceMaps: the maps of the pane Trace: the picture with its target, then the shares at the input
// of every layer, from the last layer down to the tokens. Of a text the chosen layer's shares as a
// coloured text, and the small maps of all layers below it. Moves the selection. Window thread,
// inside a frame.
#pragma once
#include <memory>
#include <vector>

#include "app/panels/attention/over_image.h"
#include "app/panels/attention/sample_view.h"
#include "app/panels/attention/trace_data.h"
#include "app/panels/shared/sample_input.h"
#include "viz/text_map.h"

namespace aft::app {

[[nodiscard]] Coloring trace_coloring(const ViewState& ui, const TraceRow& row);
// "Input of layer 3", "Input tokens"; alone "Layer 3".
[[nodiscard]] std::string trace_words(const TraceRow& row);
[[nodiscard]] std::string source_share_words(double share);  // "12.3 %", "below 0.001 %"

class TraceMaps {
  public:
    struct TraceReply {
        int64_t target = -1;      // was clicked in the picture or the text
        int64_t read_layer = -1;  // whose map is under the pointer
        float bottom = 0;         // where the maps end
    };
    // In `box`; what does not fit scrolls, a whole number of lines high. A click on a small map
    // chooses its layer.
    [[nodiscard]] TraceReply draw(PaneContext& ui, const TraceData& data, const viz::Box& box);

  private:
    struct Small {
        viz::Map map;
        OverImage under;
    };
    struct TraceTile {
        const TraceRow& row;
        viz::Box box;  // its title and its map
    };
    // Returns the height of the whole lines that fit; 0 = all of them do, or none.
    float draw_grid(PaneContext& ui, const TraceData& data, ImVec2 area, TraceReply& reply);
    void draw_small(PaneContext& ui, const TraceTile& tile, Small& small, TraceReply& reply);
    void draw_sample(PaneContext& ui, const viz::Box& box, int zoom, TraceReply& reply);
    void follow(int64_t layer, const viz::Box& box);
    void draw_text(PaneContext& ui, const TraceRow& row, ImVec2 area, TraceReply& reply);

    SampleView sample_;
    std::vector<std::unique_ptr<Small>> small_;
    viz::TextMap text_;
    float scroll_ = 0;
    int64_t followed_ = -1;  // the layer whose map was last scrolled to
    float lines_ = 0;        // height down to the last whole line of maps; 0 = all there is
};

}  // namespace aft::app

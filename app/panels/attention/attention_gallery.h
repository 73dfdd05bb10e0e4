// The lower part of the Attention pane: every channel (or head) of the layer as a small map,
// sorted, page by page where they do not fit. Moves the selection. Window thread, inside a frame.
#pragma once
#include <string>
#include <vector>

#include "app/panels/attention/attention_data.h"
#include "viz/atlas.h"

namespace aft::app {

class AttentionGallery {
  public:
    // At the cursor, `height` pixels. Each map has its own range, in the scale and colours given. A
    // click locks a channel, hovering previews it. Sorts the channels of `data`. Returns the
    // channel under the pointer, -1 = none.
    int64_t draw(PaneContext& ui, AttentionData& data, const Coloring& coloring, float height);

  private:
    void sort(const ViewState& ui, AttentionData& data);
    void fill(const ModelView& ui, const AttentionData& data, int count);
    void draw_head(PaneContext& ui, const AttentionData& data, int count,
                   const viz::AtlasReply& drawn);
    void draw_order(PaneContext& ui, const AttentionData& data);
    [[nodiscard]] std::vector<std::string> head_words(const AttentionData& data, int count,
                                                      const viz::AtlasReply& drawn) const;
    void turn_page(int64_t by, int count, size_t channels);

    viz::Atlas atlas_;
    std::vector<Folded> folded_;
    std::vector<viz::AtlasCell> cells_;
    uint64_t cells_version_ = 0;
    Order order_ = Order::gate;  // the chosen one, or sharpness where this model cannot have it
    Order cells_order_ = Order::gate;
    size_t first_ = 0, cells_first_ = 0;  // of the channels as they are sorted, at the left top
};

}  // namespace aft::app

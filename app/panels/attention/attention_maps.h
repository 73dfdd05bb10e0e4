// The upper part of the Attention pane: the picture with its target and the maps of prior, content
// and both beside it, or for a text the text itself, coloured by each of them. Reads the data,
// moves the selection. Window thread.
#pragma once
#include <optional>

#include "app/panels/attention/attention_data.h"
#include "app/panels/attention/over_image.h"
#include "app/panels/attention/sample_view.h"
#include "app/panels/shared/sample_input.h"
#include "viz/text_map.h"

namespace aft::app {

enum class AttentionParts { prior, content, all };  // what stands beside "both"

struct AttentionShown {
    const AttentionData& data;
    const Positions& positions;
    AttentionParts parts = AttentionParts::prior;
    Coloring coloring{};
    int64_t channel = 0;  // of the target pixel
};

class AttentionMaps {
  public:
    // At the cursor, `height` pixels, colour bar included.
    void draw(PaneContext& ui, const AttentionShown& shown, float height);
    [[nodiscard]] std::optional<double> limit() const { return by_hand_; }  // set by dragging

  private:
    struct Part {
        WidgetName title;
        const AttentionMap& map;
        size_t place;  // among the maps
        viz::Box box;
        float available;  // for the title
    };
    void draw_pictures(PaneContext& ui, const AttentionShown& shown, ImVec2 available);
    void draw_sample(PaneContext& ui, const AttentionShown& shown, int zoom);
    void draw_texts(PaneContext& ui, const AttentionShown& shown, ImVec2 available);
    void draw_part(PaneContext& ui, const AttentionShown& shown, const Part& part);
    void draw_map(PaneContext& ui, const AttentionShown& shown, const Part& part);
    void draw_text(PaneContext& ui, const AttentionShown& shown, const Part& part);
    static void draw_start(PaneContext& ui, const AttentionShown& shown, const Part& part,
                           int64_t j);
    void draw_foot(PaneContext& ui, const AttentionShown& shown, const viz::Box& bar);

    SampleView sample_;
    viz::Map maps_[3];
    OverImage under_[3];
    viz::TextMap texts_[3];
    float scroll_ = 0;
    std::optional<double> by_hand_;
};

}  // namespace aft::app

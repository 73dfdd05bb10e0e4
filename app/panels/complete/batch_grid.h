// BatchGrid: the pictures of a batch beside each other, each masked above and its completions below
// it, as the paper has them; fewer columns where they would be too small. A click looks at a
// picture and its sample. Window thread, inside a frame.
#pragma once
#include <memory>
#include <vector>

#include "app/panels/complete/sample_overlay.h"
#include "app/state/ui.h"
#include "viz/image_grid.h"

namespace aft::app {

class BatchGrid {
  public:
    // Caption, what is left out, the grid, the hover line.
    void draw(Ui& ui);

  private:
    struct BatchTextures {
        viz::TokenTexture given;
        std::vector<viz::TokenTexture> samples;
        SampleOverlay overlay;
        std::shared_ptr<const Completion> of;  // that the overlay is of
        double top = 0;                        // of its colours
    };
    struct BatchTile {
        size_t picture = 0;
        int64_t sample = -1;  // -1 = the picture itself, masked
    };
    struct BatchSizes {
        int columns = 1, zoom = 1;
        float label = 0, head = 0, pitch = 0, line = 0, band = 0;  // pixels
    };
    [[nodiscard]] BatchSizes sizes(const PaneContext& ui, ImVec2 area) const;
    void update(const PaneContext& ui);
    void draw_grid(PaneContext& ui);
    void draw_column(PaneContext& ui, size_t picture, ImVec2 at, const BatchSizes& sizes);
    void draw_tile(PaneContext& ui, const BatchTile& tile, ImVec2 at, int zoom);
    void draw_given(PaneContext& ui, const BatchTile& tile, viz::ImageView& view);
    [[nodiscard]] viz::ImageReply draw_sample(PaneContext& ui, const BatchTile& tile,
                                              viz::ImageView& view);
    void draw_foot(PaneContext& ui) const;
    Overlay shown_ = Overlay::none;

    std::vector<BatchTextures> textures_;
    std::vector<uint8_t> masked_;  // [height, width]
    struct BatchHover {
        viz::MapCell at{};
        BatchTile tile{};
    } hovered_;
};

}  // namespace aft::app

// Thumbnail: a small bias map, or a picture as it is. Uploads when the values change. Window
// thread.
#pragma once
#include "app/state/ui.h"
#include "core/field.h"
#include "viz/image_grid.h"

namespace aft::app {

class Thumbnail {
  public:
    // At a place of the window, without moving the cursor; `side` in pixels. An empty field draws
    // an empty cell.
    void draw(DrawContext& ui, const Field& field, ImVec2 at, float side);
    void draw(DrawContext& ui, const Image& image, ImVec2 at, float side);

  private:
    std::vector<float> shown_;
    Colormap map_{};
    viz::TokenTexture texture_;
};

}  // namespace aft::app

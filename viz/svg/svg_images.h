// SvgImages: textured rectangles of Dear ImGui as embedded PNGs of an SvgPage, cut to what is shown
// and without smoothing; textures that repeat as patterns. One owner, any thread.
#pragma once
#include <string>

#include "core/images/image.h"
#include "viz/svg/draw_polygons.h"
#include "viz/svg/svg_page.h"

namespace aft::viz {

class SvgImages {
  public:
    explicit SvgImages(SvgPage& page) : page_(page) {}
    // `texture`: row 0 at texture coordinate 0; an empty one, or a shape of no area, draws nothing.
    // Colours multiply its own; where corners differ, by their mean.
    void add(const DrawPolygon& polygon, const Image& texture, const Box& clip);

  private:
    // Texture coordinates at a place of the page: u = at.x + right.x * x + down.x * y, v alike.
    struct TextureMapping {
        ImVec2 at, right, down;
    };
    struct TexturedArea {
        const Image& texture;
        Box box;    // whole
        Box shown;  // of the box, within the clip
        TextureMapping mapping;
        ImU32 color = 0;
    };
    [[nodiscard]] static TextureMapping mapping_of(const DrawPolygon& polygon);
    void write_crop(const TexturedArea& area);
    void write_stripes(const TexturedArea& area);
    void write_repeated(const TexturedArea& area);
    void write_sampled(const TexturedArea& area);
    void write_pattern(const TexturedArea& area, SvgTag tag);
    void write_image(const Image& image, const Box& box, const TexturedArea& area);

    SvgPage& page_;
};

}  // namespace aft::viz

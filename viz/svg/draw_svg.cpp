#include "viz/svg/draw_svg.h"

#include <imgui_internal.h>

#include <algorithm>
#include <map>

#include "core/check.h"
#include "viz/svg/draw_polygons.h"
#include "viz/svg/draw_text.h"
#include "viz/svg/svg_images.h"
#include "viz/svg/svg_page.h"
#include "viz/svg/svg_shapes.h"

namespace aft::viz {
namespace {

// The rectangle of the atlas that holds lines of all widths; empty where they are switched off.
Box line_texels_of(const ImFontAtlas& atlas) {
    const ImVec4 &first = atlas.TexUvLines[0],
                 &last = atlas.TexUvLines[IM_DRAWLIST_TEX_LINES_WIDTH_MAX];
    const ImVec2 half = {atlas.TexUvScale.x / 2, atlas.TexUvScale.y / 2};
    if (first.y >= last.y) return {};
    return {{std::min(first.x, last.x), first.y - half.y},
            {std::max(first.z, last.z) + half.x, last.y + half.y}};
}

Image atlas_image(ImTextureData& data) {
    if (data.Pixels == nullptr) return {};
    Image out{data.Width, data.Height, 4, {}};
    const auto count = size_t(data.Width) * size_t(data.Height);
    if (data.Format == ImTextureFormat_RGBA32) {
        out.pixels.assign(data.Pixels, data.Pixels + count * 4);
        return out;
    }
    out.pixels.assign(count * 4, 255);
    for (size_t i = 0; i < count; ++i) out.pixels[i * 4 + 3] = data.Pixels[i];
    return out;
}

class DrawDataWriter {
  public:
    DrawDataWriter(const SvgView& view, const ImFontAtlas& atlas,
                   const std::function<Image(ImTextureID)>& read_texture)
        : page_({view.high.x - view.low.x, view.high.y - view.low.y}),
          atlas_(atlas),
          origin_(view.low),
          line_texels_(line_texels_of(atlas)),
          read_texture_(read_texture) {}

    void add(const ImDrawList& list) {
        for (const ImDrawCmd& command : list.CmdBuffer)
            if (command.UserCallback == nullptr) add(list, command);
    }
    [[nodiscard]] std::string finish(const SvgView& view) {
        flush();
        return page_.finish({view.title, text_attributes(), view.ground});
    }

  private:
    void add(const ImDrawList& list, const ImDrawCmd& command) {
        const ImVec4& rect = command.ClipRect;
        const Box clip = overlap_of(
            {{rect.x - origin_.x, rect.y - origin_.y}, {rect.z - origin_.x, rect.w - origin_.y}},
            page_.box());
        if (!has_area(clip)) return;
        const bool is_own = command.TexRef._TexData != nullptr;
        const SoftEdges soft{origin_, is_own ? line_texels_ : Box{}};
        each_polygon(list, command, soft, [&](const DrawPolygon& polygon) {
            if (has_area(overlap_of(grown(extent_of(polygon), 1), clip)))
                add(polygon, command.TexRef, clip);
        });
    }
    void add(const DrawPolygon& polygon, const ImTextureRef& texture, const Box& clip) {
        if (is_plain(polygon, texture)) {
            // A space that ImPlot turned has no texels, not even the white one.
            if (polygon.corners[0].uv.x == 0 && polygon.corners[0].uv.y == 0) return;
            texts_.flush();
            return shapes_.add(polygon, clip);
        }
        shapes_.flush();
        if (texture._TexData != nullptr && texture._TexData == atlas_.TexData)
            if (const std::optional<PlacedGlyph> glyph = glyphs_.find(polygon))
                if (texts_.add(*glyph, polygon.corners[0].col, clip)) return;
        texts_.flush();
        images_.add(polygon, pixels_of(texture), clip);
    }
    // Of one texel of Dear ImGui's own texture, which is white, or a line that is baked there.
    [[nodiscard]] bool is_plain(const DrawPolygon& polygon, const ImTextureRef& texture) const {
        if (texture._TexData == nullptr) return false;
        const ImVec2 first = polygon.corners[0].uv;
        return std::all_of(
            polygon.corners.begin(), polygon.corners.end(), [&](const ImDrawVert& c) {
                return (c.uv.x == first.x && c.uv.y == first.y) || line_texels_.contains(c.uv);
            });
    }
    const Image& pixels_of(const ImTextureRef& texture) {
        ImTextureData* const own = texture._TexData;
        const auto [at, is_new] = textures_.try_emplace({own, own != nullptr ? 0 : texture._TexID});
        if (is_new) at->second = own != nullptr ? atlas_image(*own) : read_texture_(texture._TexID);
        return at->second;
    }
    void flush() {
        shapes_.flush();
        texts_.flush();
    }

    SvgPage page_;
    const ImFontAtlas& atlas_;
    ImVec2 origin_;
    Box line_texels_;
    const std::function<Image(ImTextureID)>& read_texture_;
    GlyphTable glyphs_{atlas_};
    SvgShapes shapes_{page_};
    TextRuns texts_{page_};
    SvgImages images_{page_};
    std::map<std::pair<const void*, ImTextureID>, Image> textures_;
};

}  // namespace

std::string draw_data_svg(const ImDrawData& data, const SvgView& view,
                          const std::function<Image(ImTextureID)>& read_texture) {
    AFT_CHECK(view.high.x > view.low.x && view.high.y > view.low.y,
              "nothing to save: the region is {} x {} pixels", view.high.x - view.low.x,
              view.high.y - view.low.y);
    DrawDataWriter writer(view, *ImGui::GetIO().Fonts, read_texture);
    for (const ImDrawList* const list : data.CmdLists) writer.add(*list);
    return writer.finish(view);
}

}  // namespace aft::viz

#include "app/panels/shared/thumbnail.h"

#include <imgui.h>

#include "core/images/colormap.h"

namespace aft::app {

void Thumbnail::draw(DrawContext& ui, const Field& field, ImVec2 at, float side) {
    ImDrawList* draw = ImGui::GetWindowDrawList();
    const ImVec2 end{at.x + side, at.y + side};
    if (field.values.empty()) {
        draw->AddRect(at, end, ui.theme.line);
        return;
    }
    if (shown_ != field.values || map_ != ui.theme.diverging) {
        shown_ = field.values;
        map_ = ui.theme.diverging;
        const Range range = map_range(field.values, Signs::above_minus_one, kMapPercentile);
        const Slice slice{field.values, field.extent(0), field.extent(1)};
        const Coloring coloring{
            .range = range, .scale = Scale::signed_log, .map = ui.theme.diverging};
        texture_.set(colorize(slice, coloring, 1), ui);
    }
    if (texture_.id() == ImTextureID_Invalid) return;
    draw->AddImage(texture_.id(), at, end);
}

void Thumbnail::draw(DrawContext& ui, const Image& image, ImVec2 at, float side) {
    ImDrawList* draw = ImGui::GetWindowDrawList();
    const ImVec2 end{at.x + side, at.y + side};
    if (image.pixels.empty()) {
        draw->AddRect(at, end, ui.theme.line);
        return;
    }
    texture_.set(image, ui);
    if (texture_.id() != ImTextureID_Invalid) draw->AddImage(texture_.id(), at, end);
}

}  // namespace aft::app

#include "app/panels/attention/picture_beside.h"

#include <algorithm>

namespace aft::app {

namespace {

// Pixels of the picture along the side of a token.
int pixels_a_token(const ModelView& ui, const Positions& positions) {
    return int(std::max<int64_t>(1, ui.status.config.model.height / positions.height));
}

}  // namespace

int token_zoom(const ModelView& ui, const Positions& positions, ImVec2 area) {
    constexpr int kMostLost = 8;  // one in so many
    const int zoom = viz::fit_zoom(area, positions.height, positions.width, 4096);
    const int rest = zoom % pixels_a_token(ui, positions);
    return rest * kMostLost <= zoom ? zoom - rest : zoom;
}

SampleView::Reply PictureBeside::draw_scaled(PaneContext& ui, int zoom) {
    const Positions positions(ui.status);
    const ModelConfig& model = ui.status.config.model;
    const std::vector<uint8_t> tokens = sample_tokens(ui);
    if (int64_t(tokens.size()) >= model.height * model.width * model.channels)
        texture_.set(viz::TokenImage{.tokens = tokens,
                                     .height = model.height,
                                     .width = model.width,
                                     .channels = model.channels,
                                     .levels = model.levels},
                     ui);
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const ImVec2 size = {float(zoom * positions.width), float(zoom * positions.height)};
    SampleView::Reply out;
    out.box = {low, {low.x + size.x, low.y + size.y}};
    ImGui::InvisibleButton("sample", size);
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    if (ImGui::IsItemHovered() && out.box.contains(mouse))
        out.hovered = {int64_t(mouse.y - low.y) / zoom, int64_t(mouse.x - low.x) / zoom, 0};
    if (ImGui::IsItemDeactivated()) out.clicked = out.hovered;
    if (NumberTable numbers = ui.numbers != nullptr ? texture_.numbers() : NumberTable();
        !numbers.values.empty())
        ui.numbers->add("sample", std::move(numbers));
    if (texture_.id() != ImTextureID_Invalid)
        ImGui::GetWindowDrawList()->AddImage(texture_.id(), out.box.low, out.box.high);
    ui.recorder.area({.kind = "picture",
                      .path = ui.recorder.claim("Sample##sample"),
                      .min = out.box.low,
                      .max = out.box.high,
                      .value = sample_words(ui),
                      .why_not = {}});
    return out;
}

SampleView::Reply PictureBeside::draw(PaneContext& ui, int zoom,
                                      const Positions::GridPosition& target,
                                      const Positions::GridPosition& source) {
    const Positions positions(ui.status);
    if (zoom % pixels_a_token(ui, positions) == 0)
        return whole_.draw(ui, float(zoom * std::max(positions.height, positions.width)), target,
                           source);
    const SampleView::Reply out = draw_scaled(ui, zoom);
    const auto ring = [&](const Positions::GridPosition& place, ImU32 color, float width) {
        if (!place.is_on_grid()) return;
        const ImVec2 low = {out.box.low.x + float(zoom * place.x),
                            out.box.low.y + float(zoom * place.y)};
        viz::draw_ring(ui, {low, {low.x + float(zoom), low.y + float(zoom)}}, color, width);
    };
    ring(source, viz::rgb(0xFFFFFF), 1);
    ring(target, ui.theme.accent, 2);
    return out;
}

}  // namespace aft::app

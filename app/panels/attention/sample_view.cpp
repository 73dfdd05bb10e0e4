#include "app/panels/attention/sample_view.h"

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

// A pixel of the picture takes whole ones of the screen.
SampleView::Reply SampleView::draw_whole(PaneContext& ui, const viz::ImageView& view,
                                         const Positions& positions) {
    const viz::ImageReply reply = draw_image(view, texture_, ui);
    const int64_t cell = pixels_a_token(ui, positions);
    const auto place = [&](const viz::MapCell& at) {
        return at.is_valid() ? Positions::GridPosition{at.row / cell, at.column / cell, 0}
                             : Positions::GridPosition{};
    };
    return {.hovered = place(reply.hovered), .clicked = place(reply.clicked), .box = reply.box};
}

// It takes a part of them.
SampleView::Reply SampleView::draw_scaled(const PaneContext& ui, int zoom, ImVec2 size) const {
    const ImVec2 low = ImGui::GetCursorScreenPos();
    Reply out;
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
    return out;
}

SampleView::Reply SampleView::draw(PaneContext& ui, int zoom, const Positions::GridPosition& target,
                                   const Positions::GridPosition& source) {
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
    const ImVec2 size = {float(zoom * positions.width), float(zoom * positions.height)};
    const bool is_pixels = positions.height == model.height;
    viz::ImageView view;
    view.id = "sample";
    view.height = model.height;
    view.width = model.width;
    view.area = {std::max(size.x, size.y), std::max(size.x, size.y)};
    const auto cell = [&](const Positions::GridPosition& p) {
        return p.is_on_grid() && is_pixels ? viz::MapCell{p.y, p.x} : viz::MapCell{};
    };
    view.target = cell(target);
    view.source = cell(source);
    view.is_future_dark = positions.is_causal;
    const Reply out = zoom % pixels_a_token(ui, positions) == 0 ? draw_whole(ui, view, positions)
                                                                : draw_scaled(ui, zoom, size);
    const auto patch = [&](const Positions::GridPosition& p) {
        const ImVec2 low = {out.box.low.x + float(zoom * p.x), out.box.low.y + float(zoom * p.y)};
        return viz::Box{low, {low.x + float(zoom), low.y + float(zoom)}};
    };
    const viz::Box from = patch(source), to = patch(target);
    if (!is_pixels)
        viz::draw_cell_rings(ui, source.is_on_grid() ? &from : nullptr,
                             target.is_on_grid() ? &to : nullptr);
    ui.recorder.area({.kind = "picture",
                      .path = ui.recorder.claim("Sample##sample"),
                      .min = out.box.low,
                      .max = out.box.high,
                      .value = sample_words(ui),
                      .why_not = {}});
    return out;
}

}  // namespace aft::app

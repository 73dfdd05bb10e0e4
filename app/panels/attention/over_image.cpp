#include "app/panels/attention/over_image.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/panels/shared/positions.h"
#include "app/panels/shared/sample_input.h"
#include "app/widgets/buttons.h"
#include "app/widgets/fields.h"
#include "app/widgets/text.h"

namespace aft::app {

namespace {

bool is_on(const ViewState& ui) {
    return ui.settings.attention.over_image && !ui.status.task.is_text();
}

}  // namespace

Image image_under(const viz::TokenImage& image, const Folded& map) {
    Image picture = viz::token_pixels(image);
    for (int64_t y = 0; y < picture.height; ++y)
        for (int64_t x = 0; x < picture.width; ++x) {
            uint8_t* const rgba = &picture.pixels[size_t(y * picture.width + x) * 4];
            const int grey = (299 * rgba[0] + 587 * rgba[1] + 114 * rgba[2] + 500) / 1000;
            std::fill(rgba, rgba + 3, static_cast<uint8_t>(grey));
            const int64_t row = y * map.rows / picture.height;
            const int64_t column = x * map.columns / picture.width;
            if (map.hidden[size_t(row * map.columns + column)] != 0) rgba[3] = 0;
        }
    return picture;
}

void OverImage::lay_under(PaneContext& ui, const Folded& map, viz::MapView& view) {
    if (!is_on(ui) || ui.painter == nullptr || map.values.empty()) return;
    const ModelConfig& model = ui.status.config.model;
    const std::vector<uint8_t> tokens = sample_tokens(ui);
    if (int64_t(tokens.size()) < model.height * model.width * model.channels) return;
    const viz::TokenImage image{.tokens = tokens,
                                .height = model.height,
                                .width = model.width,
                                .channels = model.channels,
                                .levels = model.levels};
    texture_.set(image_under(image, map), ui);
    view.under = texture_.id();
    view.strength = float(ui.settings.attention.opacity / 100);
}

Coloring attention_coloring(const ViewState& ui, const Range& range) {
    constexpr Scale kScales[] = {Scale::linear, Scale::root, Scale::log};
    constexpr Colormap kMaps[] = {Colormap::viridis, Colormap::cividis, Colormap::grey};
    const AttentionLook& look = ui.settings.attention;
    return {range, kScales[look.scale], kMaps[look.colors]};
}

viz::MapView folded_view(const ViewState& ui, const Folded& map, ImVec2 area) {
    const Positions positions(ui.status);
    viz::MapView view;
    view.data = map.data();
    view.area = area;
    view.zoom = viz::fit_zoom(area, view.data.rows, view.data.columns, 4096);
    view.numbers = false;
    const FoldPlace target = fold_place(positions, positions.target(ui.selection.cell.target));
    view.target = {target.row, target.column};
    const FoldPlace source = fold_place(positions, shown_source(ui, positions));
    view.source = {source.row, source.column};
    return view;
}

void over_image_controls(PaneContext& ui) {
    AttentionLook& look = ui.settings.attention;
    const bool is_text = ui.status.task.is_text();
    label_column(ui, "Over image", 104,
                 "Lays the map over the picture, which is grey so that all colour is the map's.");
    (void)toggle(ui, "Over image##over_image", look.over_image,
                 {.why_not = is_text ? "A text has no picture." : "",
                  .tip = "Lays the map over the picture, which is grey so that all colour is the "
                         "map's."});
    ImGui::SameLine(0, ui.px(10));
    NumberField field{.name = "Opacity##opacity", .min = 0, .max = 100, .standard = 60};
    field.decimals = 0;
    field.unit = "%";
    field.tip = "Of the map over the picture.";
    if (is_text)
        field.why_not = "A text has no picture.";
    else if (!look.over_image)
        field.why_not = "Switch Over image on first.";
    (void)slider(ui, field, look.opacity);
}

std::string over_image_words(const ViewState& ui) {
    if (!is_on(ui)) return "";
    return fmt::format("over the grey picture, {:.0f} %", ui.settings.attention.opacity);
}

}  // namespace aft::app

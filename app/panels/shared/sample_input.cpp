#include "app/panels/shared/sample_input.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/panels/shared/model_state.h"
#include "app/panels/shared/tool_row.h"
#include "app/widgets/buttons.h"
#include "app/widgets/combo.h"
#include "app/widgets/fields.h"
#include "app/widgets/states.h"
#include "app/widgets/text.h"
#include "viz/text_map.h"

namespace aft::app {

void show_sample(ViewState& ui, const std::string& split, int64_t index) {
    ui.selection.image = {
        .split = split, .index = std::max<int64_t>(0, index), .path = {}, .item = {}, .error = {}};
}

bool is_text(const ModelView& ui) {
    return ui.status.task.is_text();
}

void sample_steps(PaneContext& ui) {
    const ImageChoice& image = ui.selection.image;
    const int64_t index = image.index;
    if (button(ui, {.name = is_text(ui) ? "Previous text##previous" : "Previous picture##previous",
                    .icon = icon::step_back,
                    .kind = ButtonKind::icon,
                    .why_not = index <= 0 ? "This is the first one." : "",
                    .tip = "The example before, of the same part of the data set."}))
        show_sample(ui, image.split, index - 1);
    ImGui::SameLine(0, ui.px(2));
    if (button(ui, {.name = is_text(ui) ? "Next text##next" : "Next picture##next",
                    .icon = icon::step,
                    .kind = ButtonKind::icon,
                    .tip = "The next example of the same part of the data set."}))
        show_sample(ui, image.split, index + 1);
}

std::string sample_words(const ViewState& ui) {
    const ImageChoice& image = ui.selection.image;
    if (!image.path.empty()) {
        const size_t slash = image.path.find_last_of('/');
        return slash == std::string::npos ? image.path : image.path.substr(slash + 1);
    }
    const std::string place =
        fmt::format("{} {}", image.split.empty() ? "sample" : image.split, image.index);
    if (!image.item) return place;
    const auto& names = ui.status.class_names;
    const int64_t label = image.item->label;
    if (label >= 0 && label < int64_t(names.size())) return names[size_t(label)] + ", " + place;
    return image.item->caption.empty() ? place : image.item->caption;
}

std::string fitting_words(const ViewState& ui) {
    const auto& item = ui.selection.image.item;
    return item && !item->changes.empty() ? " The file has " + item->changes + "." : "";
}

std::vector<uint8_t> sample_bytes(const ViewState& ui) {
    std::vector<uint8_t> bytes = sample_tokens(ui);
    const std::vector<uint8_t>& alphabet = ui.status.alphabet;
    for (uint8_t& byte : bytes)
        if (byte < alphabet.size()) byte = alphabet[byte];
    return bytes;
}

std::vector<uint8_t> sample_tokens(const ViewState& ui) {
    const auto& item = ui.selection.image.item;
    return item ? item->tokens : std::vector<uint8_t>();
}

void choose_target(ViewState& ui, const Positions& positions) {
    Cell& cell = ui.selection.cell;
    if (cell.target >= 0 && cell.target < positions.tokens) return;
    cell.target = positions.is_text
                      ? positions.tokens / 2
                      : positions.target_at(positions.height * 5 / 8, positions.width / 2, 0);
}

int64_t target_channel(const ViewState& ui, const Positions& positions) {
    return positions.target(ui.selection.cell.target).channel;
}

void target_channel_tool(PaneContext& ui, const Positions& positions) {
    inline_label(ui, "Target");
    const Choice names[] = {{.text = "R##r"}, {.text = "G##g"}, {.text = "B##b"}};
    auto chosen = int(target_channel(ui, positions));
    if (!segmented(ui, "Target channel##target_channel", chosen,
                   {.list = names, .tip = "The colour of the target pixel that is predicted."}))
        return;
    const Positions::GridPosition at = positions.target(ui.selection.cell.target);
    if (at.is_on_grid()) ui.selection.cell.target = positions.target_at(at.y, at.x, chosen);
}

Positions::GridPosition shown_source(const ViewState& ui, const Positions& positions) {
    const int64_t j = ui.selection.shown().source;
    return j >= 0 ? positions.source(j) : Positions::GridPosition{};
}

std::string place_and_byte(const ViewState& ui, const Positions& positions,
                           const Positions::GridPosition& place) {
    if (!positions.is_text || !place.is_on_grid()) return positions.place_words(place);
    const std::vector<uint8_t> bytes = sample_bytes(ui);
    const auto i = static_cast<size_t>(place.x);
    return std::to_string(place.x) + (i < bytes.size() ? " " + viz::byte_words(bytes[i]) : "");
}

bool sample_state(Ui& ui) {
    return no_model_state(ui, Drawing::picture,
                          "Open a checkpoint or a run to see where its layers look.") ||
           mixer_alone_state(ui, Drawing::picture);
}

bool no_attention_state(Ui& ui, const std::string& title) {
    const MixerTraits& mixer = ui.status.mixer;
    if (mixer.has_attention) return false;
    empty_state(ui, {.drawing = Drawing::layers,
                     .title = title,
                     .sentence = mixer.no_attention + ".",
                     .primary = "file.open",
                     .secondary = "file.open_demo",
                     .hint = {},
                     .secondary_words = "Try the demo"});
    return true;
}

bool sample_missing(Ui& ui) {
    if (ui.selection.image.item) return false;
    if (!picture_problem(ui))
        (void)progress_line(ui, is_text(ui) ? "Reading the text" : "Reading the picture", -1);
    return true;
}

SampleView::Reply SampleView::draw_picture(PaneContext& ui, const viz::ImageView& view,
                                           const Positions& positions) {
    const ModelConfig& model = ui.status.config.model;
    const std::vector<uint8_t> tokens = sample_tokens(ui);
    Reply out;
    if (int64_t(tokens.size()) >= model.height * model.width * model.channels)
        texture_.set(viz::TokenImage{.tokens = tokens,
                                     .height = model.height,
                                     .width = model.width,
                                     .channels = model.channels,
                                     .levels = model.levels},
                     ui);
    const viz::ImageReply reply = draw_image(view, texture_, ui);
    const int64_t cell = std::max<int64_t>(1, model.height / positions.height);
    const auto place = [&](const viz::MapCell& at) {
        return at.is_valid() ? Positions::GridPosition{at.row / cell, at.column / cell, 0}
                             : Positions::GridPosition{};
    };
    out.hovered = place(reply.hovered);
    out.clicked = place(reply.clicked);
    out.box = reply.box;
    return out;
}

SampleView::Reply SampleView::draw(PaneContext& ui, float side,
                                   const Positions::GridPosition& target,
                                   const Positions::GridPosition& source) {
    const Positions positions(ui.status);
    const ModelConfig& model = ui.status.config.model;
    viz::ImageView view;
    view.id = "sample";
    view.height = model.height;
    view.width = model.width;
    view.area = {side, side};
    const bool is_pixels = positions.height == model.height;
    const auto cell = [&](const Positions::GridPosition& p) {
        return p.is_on_grid() && is_pixels ? viz::MapCell{p.y, p.x} : viz::MapCell{};
    };
    view.target = cell(target);
    view.source = cell(source);
    view.is_future_dark = positions.is_causal;
    const Reply out = draw_picture(ui, view, positions);
    if (!is_pixels) {  // patches: rings round several pixels
        const float zoom = out.box.height() / float(positions.height);
        const auto ring = [&](const Positions::GridPosition& p, uint32_t color, float width) {
            if (!p.is_on_grid()) return;
            const ImVec2 low = {out.box.low.x + zoom * float(p.x),
                                out.box.low.y + zoom * float(p.y)};
            viz::draw_ring(ui, {low, {low.x + zoom, low.y + zoom}}, color, width);
        };
        ring(source, viz::rgb(0xFFFFFF), 1);
        ring(target, ui.theme.accent, 2);
    }
    ui.recorder.area({.kind = "picture",
                      .path = ui.recorder.claim("Sample##sample"),
                      .min = out.box.low,
                      .max = out.box.high,
                      .value = sample_words(ui),
                      .why_not = {}});
    return out;
}

}  // namespace aft::app

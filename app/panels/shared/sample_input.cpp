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

}  // namespace aft::app

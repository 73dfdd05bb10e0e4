// Relative: what the targets of a picture attend to by offset from themselves, averaged over the
// targets (Zhai et al. 2021, Figures 1 left and 5): the chosen head of a layer, and all its heads.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/panels/attention/offset_maps.h"
#include "app/panels/panel.h"
#include "app/panels/shared/copy_command.h"
#include "app/panels/shared/lock_words.h"
#include "app/panels/shared/sample_input.h"
#include "app/panels/shared/sample_popup.h"
#include "app/panels/shared/tool_row.h"
#include "app/widgets/buttons.h"
#include "app/widgets/combo.h"
#include "app/widgets/fields.h"
#include "app/widgets/states.h"
#include "app/widgets/text.h"
#include "core/text.h"
#include "viz/atlas.h"
#include "viz/color_bar.h"

namespace aft::app {

PanelRoom relative_panel();

namespace {

constexpr size_t kMostOffsetMaps = 64;  // drawn as small ones: a page
constexpr float kOffsetTitle = 22, kOffsetBar = 40;
class RelativePanel : public Panel {
  public:
    void draw(Ui& ui) override;
    void inspector(Ui& ui) override;
    [[nodiscard]] std::vector<std::string> figures() const override {
        return {"relative-attention"};
    }

  private:
    void draw_tools(Ui& ui);
    void draw_caption(PaneContext& ui);
    void draw_examples(PaneContext& ui);
    [[nodiscard]] std::string example_words(const ViewState& ui) const;
    void draw_chosen(PaneContext& ui, const viz::Box& box);
    void draw_all(PaneContext& ui, const viz::Box& box);
    void draw_foot(PaneContext& ui);
    void choose(ViewState& ui, size_t map) const;
    [[nodiscard]] size_t chosen(const ViewState& ui) const;
    [[nodiscard]] Coloring coloring(const ViewState& ui) const;
    // "head 3"; "": the layer has one map, without heads.
    [[nodiscard]] std::string map_words(size_t map) const;
    [[nodiscard]] std::string offset_words() const;  // of the place that is read

    OffsetMaps maps_;
    viz::Map map_;
    viz::Atlas atlas_;
    std::vector<viz::AtlasCell> cells_;
    struct OffsetView {
        int part = 0, reduce = 0;  // both, prior, content; head, channel, mean, gate
        std::pair<uint64_t, size_t> of{};
        size_t page = 0;  // of the small maps, chosen for this
    } view_;
    struct OffsetRead {  // under the pointer
        size_t map = 0;
        viz::MapCell at{};
    } read_;
    SampleTool sample_;
};

Coloring RelativePanel::coloring(const ViewState& ui) const {
    constexpr Scale kScales[] = {Scale::linear, Scale::root, Scale::log};
    constexpr Colormap kMaps[] = {Colormap::viridis, Colormap::cividis, Colormap::grey};
    return {maps_.range(), kScales[ui.settings.attention.scale],
            kMaps[ui.settings.attention.colors]};
}

size_t RelativePanel::chosen(const ViewState& ui) const {
    const Cell& cell = ui.selection.shown();
    const int64_t index = maps_.is_by_channel() ? cell.channel : cell.head;
    const auto last = int64_t(maps_.maps().size()) - 1;
    return size_t(std::clamp<int64_t>(index, 0, std::max<int64_t>(0, last)));
}

void RelativePanel::choose(ViewState& ui, size_t map) const {
    Cell cell = ui.selection.cell;
    (maps_.is_by_channel() ? cell.channel : cell.head) = int64_t(map);
    ui.selection.lock(cell);
}

std::string RelativePanel::map_words(size_t map) const {
    if (view_.reduce >= 2) return "all channels";
    if (!maps_.is_by_channel() && maps_.maps().size() < 2) return "";
    return fmt::format("{} {}", maps_.is_by_channel() ? "channel" : "head", map);
}

std::string RelativePanel::offset_words() const {
    const auto number = [](int64_t v) { return signed_number(double(v), 0); };
    return fmt::format("({}, {})", number(read_.at.row - maps_.rows() / 2),
                       number(read_.at.column - maps_.columns() / 2));
}

void RelativePanel::draw_tools(Ui& ui) {
    const float end = ImGui::GetCursorScreenPos().x + ImGui::GetContentRegionAvail().x;
    sample_.draw(ui);
    ImGui::SameLine(0, ui.px(12));
    const std::string why_no_prior =
        ui.status.mixer.has_prior() ? "" : ui.status.mixer.no_bias + ".";
    if (!why_no_prior.empty() && view_.part == 1) view_.part = 0;  // of the model before
    const Choice parts[] = {{.text = "Both##both",
                             .tip = "What the model does: content and position.",
                             .formula = "exp(K[j] + w[t,j]) / \u03A3 exp(K[j'] + w[t,j'])"},
                            {.text = "Prior##prior",
                             .why_not = why_no_prior,
                             .tip = "By position alone: the keys are left out.",
                             .formula = "exp(w[t,j]) / \u03A3 exp(w[t,j'])"},
                            {.text = "Content##content",
                             .tip = "By content alone: the position bias is left out.",
                             .formula = "exp(K[j]) / \u03A3 exp(K[j'])"}};
    (void)segmented(ui, "Parts##parts", view_.part, {parts});
    std::vector<Tool> tools = {{240,
                                [&] {
                                    inline_label(ui, "Maps");
                                    const std::string reduce[] = {"Heads##head",
                                                                  "Channels##channel", "Mean##mean",
                                                                  "Gate-weighted mean##gate"};
                                    (void)combo(ui, "Maps##reduce", view_.reduce,
                                                {.list = reduce,
                                                 .width = 180,
                                                 .tip = "One map per head or channel, or their "
                                                        "mean."});
                                }},
                               {180, [&] { draw_examples(ui); }}};
    if (maps_.maps().size() > kMostOffsetMaps)
        tools.insert(tools.begin() + 1,
                     {112, [&] {
                          if (button(ui, {.name = "More maps##more_maps",
                                          .tip = "The next heads or channels, after the last ones "
                                                 "the first again."}))
                              ++view_.page;
                      }});
    tool_row(ui, end - ImGui::GetItemRectMax().x, tools);
}

void RelativePanel::draw_examples(PaneContext& ui) {
    inline_label(ui, "Examples");
    (void)drag_field(ui,
                     {.name = "Examples##examples",
                      .min = 1,
                      .max = double(kMostRelativeExamples),
                      .standard = 1,
                      .integer = true,
                      .why_not = why_no_examples(ui),
                      .tip = "The mean over so many examples of the data in a row, the one at the "
                             "left the first of them.",
                      .width = 72,
                      .drag_speed = 0.2F},
                     ui.selection.relative_examples);
}

// "of 3 of 8 examples, validation 0 to 7"
std::string RelativePanel::example_words(const ViewState& ui) const {
    const OffsetState count = maps_.state();
    if (count.asked < 2) return "";
    const ImageChoice& image = ui.selection.image;
    return fmt::format(" in each of {} examples, {} {} to {}",
                       count.used == count.asked ? std::to_string(count.asked)
                                                 : fmt::format("{} of {}", count.used, count.asked),
                       image.split, image.index, image.index + count.asked - 1);
}

void RelativePanel::draw_caption(PaneContext& ui) {
    const char* const scales[] = {"linear", "square-root", "log"};
    caption(
        ui, "Average relative attention",
        fmt::format(
            "share by offset{}, mean over {} targets{}{}  \u00B7  {}, layer {}", across_words(ui),
            maps_.maps().empty() ? "the" : maps_.state().targets, example_words(ui),
            maps_.maps().empty()
                ? ""
                : fmt::format(", colours {} from 0 to {} %", scales[ui.settings.attention.scale],
                              plain_number(100 * maps_.range().high, 1)),
            step_words(ui, maps_.watch().fields()), ui.selection.cell.layer));
}

void RelativePanel::draw_chosen(PaneContext& ui, const viz::Box& box) {
    const size_t map = chosen(ui);
    const std::string of_layer = map_words(map).empty() ? "" : ", " + map_words(map);
    text_at(ui, box.low, fmt::format("Layer {}{}", ui.selection.cell.layer, of_layer),
            {text_size::label, ui.theme.text1, Face::semibold, box.width()});
    const int64_t middle_row = maps_.rows() / 2, middle_column = maps_.columns() / 2;
    viz::MapView view;
    view.id = "offsets";
    view.data = maps_.data(map);
    view.coloring = coloring(ui);
    view.area = {box.width(), box.height() - ui.px(kOffsetTitle + kOffsetBar)};
    view.row_label = [=](int64_t i) { return signed_number(double(i - middle_row), 0); };
    view.column_label = [=](int64_t i) { return signed_number(double(i - middle_column), 0); };
    view.row_origin = middle_row;
    view.column_origin = middle_column;
    view.numbers = false;
    view.target = {middle_row, middle_column};
    view.dimmed = !maps_.state().is_current;
    ImGui::SetCursorScreenPos({box.low.x, box.low.y + ui.px(kOffsetTitle)});
    const viz::MapReply reply = map_.draw(view, ui);
    ui.recorder.area({.kind = "map",
                      .path = ui.recorder.claim("Offsets##offsets"),
                      .min = reply.map.low,
                      .max = reply.map.high,
                      .value = fmt::format("layer {}{}", ui.selection.cell.layer, of_layer),
                      .why_not = {}});
    if (reply.hovered.is_valid()) read_ = {map, reply.hovered};
    const float foot = box.high.y - ui.px(kOffsetBar - 6);
    const float left = reply.map.low.x;
    ImGui::SetCursorScreenPos({left, std::min(foot, reply.map.high.y + ui.px(12))});
    viz::ColorBarView bar;
    bar.coloring = view.coloring;
    bar.width = std::min(std::max(reply.map.width(), ui.px(160)), ui.px(360));
    bar.percent = true;
    bar.can_drag = false;
    const float share = offset_share(maps_, read_.map, read_.at.row, read_.at.column);
    if (!std::isnan(share)) bar.marker = share;
    (void)draw_color_bar(bar, ui);
}

void RelativePanel::draw_all(PaneContext& ui, const viz::Box& box) {
    const size_t all = maps_.maps().size();
    const std::pair of{ui.opened * 4 + uint64_t(view_.reduce), chosen(ui)};
    if (std::exchange(view_.of, of) != of) view_.page = of.second / kMostOffsetMaps;
    view_.page %= (all + kMostOffsetMaps - 1) / kMostOffsetMaps;
    const size_t first = view_.page * kMostOffsetMaps;
    const size_t count = std::min(kMostOffsetMaps, all - first);
    const std::string words =
        count < all
            ? fmt::format("{} {} to {} of {}, one range",
                          maps_.is_by_channel() ? "Channels" : "Heads", first, first + count - 1,
                          all)
            : std::string(maps_.is_by_channel() ? "All channels" : "All heads") + ", one range";
    text_at(ui, box.low, words, {text_size::label, ui.theme.text1, Face::semibold, box.width()});
    cells_.assign(count, {});
    for (size_t i = 0; i < count; ++i) {
        cells_[i].data = maps_.data(first + i);
        cells_[i].coloring = coloring(ui);
        cells_[i].label = fmt::format("{}{}", maps_.is_by_channel() ? "c" : "h", first + i);
    }
    viz::AtlasView view;
    view.id = "all offsets";
    view.area = {box.width(), box.height() - ui.px(kOffsetTitle)};
    view.shape = offset_shape(maps_, int(count), view.area, ui.scale);
    view.cells = cells_;
    view.raise_selected_row = false;
    if (const size_t place = chosen(ui) - first; place < count) {
        view.selected_row = int(place) / view.shape.columns;
        view.selected_column = int(place) % view.shape.columns;
    }
    ImGui::SetCursorScreenPos({box.low.x, box.low.y + ui.px(kOffsetTitle)});
    const viz::AtlasReply reply = atlas_.draw(view, ui);
    ui.recorder.area({.kind = "map",
                      .path = ui.recorder.claim("All maps##all_maps"),
                      .min = reply.box.low,
                      .max = reply.box.high,
                      .value = words,
                      .why_not = {}});
    const viz::AtlasHit hit = reply.clicked.is_valid() ? reply.clicked : reply.hovered;
    const auto place = size_t(std::max(0, hit.row) * view.shape.columns + std::max(0, hit.column));
    if (!hit.is_valid() || place >= count) return;
    read_ = {first + place, hit.cell};
    if (reply.clicked.is_valid()) choose(ui, first + place);
}

void RelativePanel::draw_foot(PaneContext& ui) {
    std::vector<ReadOut> values = {{"layer", std::to_string(ui.selection.cell.layer)}};
    if (read_.at.is_valid() && read_.map < maps_.maps().size()) {
        const float share = offset_share(maps_, read_.map, read_.at.row, read_.at.column);
        if (view_.reduce < 2 && !map_words(read_.map).empty())
            values.push_back(
                {maps_.is_by_channel() ? "channel" : "head", std::to_string(read_.map)});
        values.push_back({"offset", offset_words()});
        if (std::isnan(share))
            values.push_back({"share", "not visible"});
        else
            values.push_back({"share", plain_number(100 * share, 3) + " %", exact_number(share)});
    }
    const char* const words = maps_.maps().size() < 2 ? "Hover reads"
                              : maps_.is_by_channel() ? "Hover reads, click chooses a channel"
                                                      : "Hover reads, click chooses a head";
    hover_line(ui, values, lock_words(ui, words));
}

// Draws why there is nothing and returns true for a model that has no offsets to show.
bool has_no_offsets(Ui& ui) {
    const Status& s = ui.status;
    const bool has_grid = !s.task.is_text() && s.grid_height > 1;
    if (has_grid && s.mixer.has_attention) return false;
    empty_state(ui, {.drawing = Drawing::grid,
                     .title = has_grid ? "No attention in this model" : "This model has no grid",
                     .sentence = has_grid ? s.mixer.no_attention + "."
                                          : "Its positions lie in a line. What one of them attends "
                                            "to is in the tab Attention.",
                     .primary = has_grid ? "file.open" : "",
                     .secondary = has_grid ? "file.open_demo" : "",
                     .hint = {},
                     .secondary_words = "Try the demo"});
    return true;
}

void RelativePanel::draw(Ui& ui) {
    if (sample_state(ui)) return;
    if (has_no_offsets(ui)) {
        maps_.clear();  // of the model before
        return;
    }
    draw_tools(ui);
    if (sample_missing(ui)) return;
    constexpr AttentionPart kParts[] = {AttentionPart::both, AttentionPart::prior,
                                        AttentionPart::content};
    maps_.update(ui, {.layer = ui.selection.cell.layer,
                      .part = kParts[view_.part],
                      .reduce = OffsetReduce(view_.reduce),
                      .examples = ui.selection.relative_examples});
    draw_caption(ui);
    if (!maps_.watch().error().empty())
        banner(ui,
               {.title = "This average could not be computed", .sentence = maps_.watch().error()});
    if (!maps_.state().left_out.empty())
        banner(ui, {.kind = ToastKind::warning,
                    .title = "Not every example could be read",
                    .sentence = maps_.state().left_out + "."});
    if (const OffsetState count = maps_.state(); count.is_pending)
        (void)progress_line(ui, maps_.maps().empty() ? "Computing this average" : "",
                            count.asked > 1 ? double(count.used) / double(count.asked) : -1);
    read_.at = {};
    if (!maps_.maps().empty()) {
        const ImVec2 corner = ImGui::GetCursorScreenPos();
        const ImVec2 all = {ImGui::GetContentRegionAvail().x, canvas_height(ui) - ui.px(4)};
        const bool has_several = maps_.maps().size() > 1;
        const float left = has_several ? std::floor(std::min(all.x * 0.5F, all.y)) : all.x;
        draw_chosen(ui, {corner, {corner.x + left, corner.y + all.y}});
        if (has_several)
            draw_all(ui, {{corner.x + left + ui.px(24), corner.y},
                          {corner.x + all.x, corner.y + all.y}});
        ImGui::SetCursorScreenPos({corner.x, corner.y + all.y});
    }
    draw_foot(ui);
}

void RelativePanel::inspector(Ui& ui) {
    if (!is_front() || !ui.has_model() || maps_.maps().empty()) return;
    section(ui, "Selection##selection", {}, false);
    key_value(ui, "Layer##layer", std::to_string(ui.selection.cell.layer));
    if (const std::string words = map_words(chosen(ui)); !words.empty())
        key_value(ui, "Map##map", words);
    const Positions positions(ui.status);
    if (const OffsetReach reach = offset_reach(maps_, chosen(ui), positions.channels);
        reach.sum > 0) {
        key_value(ui, "Mean distance##mean_distance", plain_number(reach.distance, 2),
                  positions.several());
        key_value(ui, {fmt::format("Within 1 {}", positions.one()), "within_1"},
                  plain_number(100 * reach.near, 1), "%");
    }
    hint(ui, "Every offset is averaged over the targets that have it, then over the examples.");
    section(ui, "Actions##actions");
    action_button(ui, "file.save_figure");
    ImGui::SameLine(0, ui.px(8));
    CopiedCommand copied = command_of(ui, maps_.watch());
    const OffsetState count = maps_.state();
    if (const size_t file = copied.command.rfind(" -o ");
        count.asked > 1 && file < std::string::npos)
        copied.command.insert(file, fmt::format(" --limit {}", count.asked));
    if (count.used < count.asked && copied.why_not.empty())
        copied.why_not = maps_.state().is_pending
                             ? "The mean is not there yet."
                             : "The command reads every example, these cannot be.";
    copy_command_button(ui, copied);
}

}  // namespace

PanelRoom relative_panel() {
    return {
        {"Relative", "average attention by the offset of the source, of every head"},
        "relative",
        icon::grid,
        "The middle is the target itself, up and left are negative offsets. The large map is "
        "the chosen head of the layer, beside it are all of them in one range; a click "
        "chooses. Average over the targets of the chosen picture, and over so many examples after "
        "it as the field Examples says.",
        {{Workspace::attention, Slot::canvas, 2}},
        make_panel<RelativePanel>};
}

}  // namespace aft::app

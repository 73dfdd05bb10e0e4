// Attention: what one target of a picture (or text) attends to: by position alone, by content
// alone, and both; the average over channels, and every channel as a small map.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/panels/attention/attention_gallery.h"
#include "app/panels/attention/attention_maps.h"
#include "app/panels/attention/attention_numbers.h"
#include "app/panels/attention/class_guess.h"
#include "app/panels/attention/confusion.h"
#include "app/panels/panel.h"
#include "app/panels/shared/copy_command.h"
#include "app/panels/shared/lock_words.h"
#include "app/panels/shared/sample_popup.h"
#include "app/panels/shared/target_token.h"
#include "app/panels/shared/tool_row.h"
#include "app/widgets/buttons.h"
#include "app/widgets/combo.h"
#include "app/widgets/states.h"
#include "app/widgets/text.h"
#include "core/text.h"

namespace aft::app {

PanelRoom attention_panel();

namespace {

class AttentionPanel : public Panel {
  public:
    void draw(Ui& ui) override;
    void inspector(Ui& ui) override;
    [[nodiscard]] std::vector<std::string> figures() const override {
        return {"relative-attention"};
    }

  private:
    void draw_tools(Ui& ui, const Positions& positions);
    void draw_caption(PaneContext& ui, const Positions& positions);
    void draw_foot(PaneContext& ui, const Positions& positions);
    [[nodiscard]] Coloring coloring(const ViewState& ui) const;
    [[nodiscard]] bool reads_channel(const ViewState& ui) const;
    [[nodiscard]] CopiedCommand command(const ViewState& ui) const;

    AttentionData data_;
    AttentionMaps maps_;
    AttentionGallery gallery_;
    ClassGuess guess_;
    ConfusionSection confusion_;
    SampleTool sample_;
    uint64_t opened_ = 0;  // the model whose parts are shown
    struct SmallMaps {
        int64_t pointed = -1;   // whose map is under the pointer
        bool are_drawn = true;  // they fitted
    } small_;
    Range range_;
};

Coloring AttentionPanel::coloring(const ViewState& ui) const {
    return attention_coloring(ui, range_);
}

void AttentionPanel::draw_tools(Ui& ui, const Positions& positions) {
    const float end = ImGui::GetCursorScreenPos().x + ImGui::GetContentRegionAvail().x;
    sample_.draw(ui);
    ImGui::SameLine(0, ui.px(12));
    const Choice parts[] = {
        {"Prior + both##prior"}, {"Content + both##content"}, {"All three##all"}};
    (void)segmented(ui, "Parts##parts", ui.selection.parts,
                    {.list = parts,
                     .tip = "Which maps stand beside the picture: by position (prior), by content, "
                            "or by both, as the model uses them."});
    const float available = end - ImGui::GetItemRectMax().x;
    std::vector<Tool> tools;
    if (positions.prefix_tokens > 0)
        tools.push_back({target_token_width(positions), [&] { target_token_tool(ui, positions); }});
    if (positions.channels == 3)
        tools.push_back({176, [&] { target_channel_tool(ui, positions); }});
    tools.push_back(
        {272, [&] {
             const WidgetName name = data_.rows().is_by_head ? "Heads##reduce" : "Channels##reduce";
             inline_label(ui, name.words);
             const std::string reduce[] = {
                 "Gate-weighted mean##gate_mean", "Mean##mean",
                 data_.rows().is_by_head ? "Chosen head##chosen" : "Chosen channel##chosen"};
             const int first = data_.rows().has_gates ? 0 : 1;  // without gates both means are one
             int chosen = std::max(0, ui.selection.reduce - first);
             if (combo(ui, name, chosen,
                       {.list = std::span(reduce).subspan(size_t(first)),
                        .width = 180,
                        .tip = "How the maps of all channels or heads become one."}))
                 ui.selection.reduce = chosen + first;
         }});
    tool_row(ui, available, tools);
}

// A small map is under the pointer: what is read is its channel alone.
bool AttentionPanel::reads_channel(const ViewState& ui) const {
    return small_.pointed >= 0 && ui.selection.hover &&
           ui.selection.hover->channel == small_.pointed;
}

// A source as the maps show it: a pixel with all its channels.
std::string source_place(const ViewState& ui, const Positions& positions, int64_t source) {
    const Positions::GridPosition place = positions.source(source);
    return positions.is_text ? place_and_byte(ui, positions, place) : positions.pixel_words(place);
}

// In percent, without the sign.
std::string share_words(double share, bool is_masked) {
    return !std::isnan(share) ? plain_number(100 * share, 3) : is_masked ? "masked" : "not visible";
}

ReadOut share_read_out(const char* name, float share, bool is_masked) {
    const std::string words = share_words(share, is_masked);
    if (std::isnan(share)) return {name, words};
    return {name, words + " %", exact_number(share)};
}

void AttentionPanel::draw_foot(PaneContext& ui, const Positions& positions) {
    const Cell cell = ui.selection.shown();
    std::vector<ReadOut> values = {
        {"layer", std::to_string(cell.layer)},
        {"target", place_and_byte(ui, positions, positions.target(cell.target))}};
    const bool is_one = reads_channel(ui);
    const auto add = [&](const char* name, const AttentionMap& map) {
        if (cell.source >= 0 && size_t(cell.source) < map.row.size())
            values.push_back(share_read_out(name, shown_share(positions, map, cell.source),
                                            map.is_masked(cell.source)));
    };
    if (cell.source >= 0) values.push_back({"source", source_place(ui, positions, cell.source)});
    if (!is_one) add("share", data_.rows().both);
    if (!is_one && ui.selection.parts != 1) add("prior", data_.rows().prior);
    if (!is_one && ui.selection.parts != 0) add("content", data_.rows().content);
    for (const AttentionChannel& c : data_.rows().channels)
        if (c.index == cell.channel) {
            values.push_back(
                {data_.rows().is_by_head ? "head" : "channel", std::to_string(c.index)});
            if (is_one || ui.selection.reduce != 2)
                add(is_one ? "share" : "its share", data_.channel_map(ui, c.index));
            if (!data_.rows().has_gates) continue;
            values.push_back({"\u03C3(Q)", plain_number(c.gate, 2), exact_number(float(c.gate))});
        }
    hover_line(ui, values,
               lock_words(ui, positions.is_text ? "Hover reads, click sets the target, P pins"
                                                : "Hover a target, click locks, P pins"));
}

void AttentionPanel::draw_caption(PaneContext& ui, const Positions& positions) {
    const char* const scales[] = {"linear", "square-root", "log"};
    const std::string over = over_image_words(ui);
    const std::string target = positions.target_words(ui.selection.cell.target);
    const std::string model = fmt::format("{}, layer {}", step_words(ui, data_.watch().fields()),
                                          ui.selection.cell.layer);
    const std::string shown = fmt::format("{} colours{}", scales[ui.settings.attention.scale],
                                          over.empty() ? "" : ", " + over);
    const std::string title = "Implicit attention of target " + target;
    const std::string summed = positions.channels > 1 ? ", a pixel's channels summed" : "";
    const size_t all = data_.rows().channels.size();
    const std::string missing =
        small_.are_drawn || all == 0
            ? ""
            : fmt::format("0 of {} {}, the pane is too low for them  \u00B7  ", all,
                          data_.rows().is_by_head ? "heads" : "channels");
    const std::string rest =
        fmt::format("{}share of each visible source{}, rows sum to 1, {}  \u00B7  {}", missing,
                    summed, shown, model);
    const float needed = text_extent(ui, title, text_size::label, Face::semibold).x +
                         text_extent(ui, rest, text_size::hint).x + ui.px(10);
    if (needed <= ImGui::GetContentRegionAvail().x)
        caption(ui, title, rest);
    else  // which target of which model comes before how it is drawn
        caption(ui, "Attention of target " + target,
                fmt::format("{}{}{}  \u00B7  {}", missing, model, summed, shown));
}

void AttentionPanel::draw(Ui& ui) {
    if (sample_state(ui) || no_attention_state(ui, "No attention in this model")) return;
    const Positions positions(ui.status);
    choose_target(ui, positions);
    // Every model opens on a part that it has.
    const bool is_new = std::exchange(opened_, ui.opened) != ui.opened;
    if (is_new && ui.selection.parts == 0 && !ui.status.mixer.has_prior()) ui.selection.parts = 1;
    draw_tools(ui, positions);
    if (sample_missing(ui)) return;
    if (ui.selection.reduce == 2 && ui.selection.cell.channel < 0) ui.selection.cell.channel = 0;
    const Cell& cell = ui.selection.cell;
    data_.update(ui, {.layer = cell.layer,
                      .target = cell.target,
                      .channel = cell.channel,
                      .reduce = Reduce(ui.selection.reduce),
                      .prior = true,
                      .content = ui.selection.parts != 0});
    range_ = {0, maps_.limit().value_or(largest_share(data_, ui.selection.parts != 0))};
    draw_caption(ui, positions);
    if (!data_.error().empty())
        banner(ui, {.title = "This attention could not be computed", .sentence = data_.error()});
    if (data_.is_pending()) (void)progress_line(ui, "", -1);
    const float all = canvas_height(ui);
    const bool has_gallery = all > ui.px(400);
    const float pictures = has_gallery ? all * (positions.is_text  ? 0.6F
                                                : all < ui.px(640) ? 0.45F
                                                                   : 0.5F)
                                       : all - ui.px(64);
    maps_.draw(ui,
               {.data = data_,
                .positions = positions,
                .parts = AttentionParts(ui.selection.parts),
                .coloring = coloring(ui),
                .channel = target_channel(ui, positions)},
               std::floor(pictures));
    ImGui::Dummy({1, ui.px(2)});
    const float left = canvas_height(ui);
    small_.pointed = -1;
    small_.are_drawn = has_gallery && left > ui.px(110);
    if (data_.rows().has_both() && small_.are_drawn)
        small_.pointed = gallery_.draw(ui, data_, coloring(ui), left);
    draw_foot(ui, positions);
}

// Of the map Both, as the channels are made one on the screen.
CopiedCommand AttentionPanel::command(const ViewState& ui) const {
    ProbeRequest request = data_.watch().shown();
    if (request.probe.empty()) return command_of(ui, data_.watch());
    const auto reduce = Reduce(ui.selection.reduce);
    kReduceOption.set(request, reduce);
    if (reduce == Reduce::channel) request.channel = ui.selection.cell.channel;
    CopiedCommand out = command_of(ui, data_.watch(), request);
    const char* const others[] = {"prior writes the prior", "content writes the content",
                                  "prior or content writes these"};
    out.note = fmt::format("It writes the map Both; --part {}.",
                           others[std::clamp(ui.selection.parts, 0, 2)]);
    return out;
}

void AttentionPanel::inspector(Ui& ui) {
    if (!is_front() || !ui.has_model() || !data_.rows().has_both()) return;
    const Positions positions(ui.status);
    const Cell cell = ui.selection.shown();
    section(ui, "Selection##selection", {}, false);
    key_value(ui, "Layer##layer", std::to_string(cell.layer));
    if (cell.channel >= 0)
        key_value(ui, data_.rows().is_by_head ? "Head##head" : "Channel##channel",
                  std::to_string(cell.channel));
    draw_channel_numbers(ui, data_, cell.channel);
    const auto words = [&](const Positions::GridPosition& place, const std::string& otherwise) {
        return positions.is_text && place.is_on_grid() ? place_and_byte(ui, positions, place)
                                                       : otherwise;
    };
    key_value(ui, "Target##target",
              words(positions.target(cell.target), positions.target_words(cell.target)));
    if (cell.source >= 0 && size_t(cell.source) < data_.rows().both.row.size()) {
        key_value(ui, "Source##source",
                  positions.channels > 1 || positions.is_text
                      ? source_place(ui, positions, cell.source)
                      : positions.source_words(cell.source));
        const bool is_one = reads_channel(ui);
        const double share =
            is_one ? shown_share(positions, data_.channel_map(ui, cell.channel), cell.source)
                   : shown_share(positions, data_.rows().both, cell.source);
        const bool is_mean = cell.channel >= 0 && !is_one && ui.selection.reduce != 2;
        const char* const unit = is_mean ? "% (mean)" : "%";
        key_value(ui, "Share##share", share_words(share, data_.rows().both.is_masked(cell.source)),
                  std::isnan(share) ? "" : unit);
    }
    if (const std::string shift = shift_words(positions); !shift.empty())
        hint(ui, shift + ", whose share is in the cell below each map.");
    guess_.draw(ui);
    draw_prior_or_content(ui, {.data = data_,
                               .positions = positions,
                               .layer = cell.layer,
                               .target = ui.selection.cell.target});
    draw_layer_shares(ui, data_);
    confusion_.draw(ui);
    AttentionLook& look = ui.settings.attention;
    section(ui, "Display##display");
    label_column(ui, "Scale");
    const Choice scales[] = {
        {.text = "Linear##linear"}, {.text = "Root##root"}, {.text = "Log##log"}};
    (void)segmented(ui, "Scale##scale", look.scale,
                    {.list = scales,
                     .width = -1,
                     .tip = "How a share becomes a colour. Root and log show small shares."});
    label_column(ui, "Colours");
    const std::string maps[] = {"Viridis##viridis", "Cividis##cividis", "Grey##grey"};
    (void)combo(ui, "Colours##colours", look.colors,
                {.list = maps, .tip = "Of the attention maps; all three are even in lightness."});
    over_image_controls(ui);
    section(ui, "Actions##actions");
    action_button(ui, "selection.pin", ButtonKind::normal, "Pin target");
    action_button(ui, "file.save_figure");
    ImGui::SameLine(0, ui.px(8));
    copy_command_button(ui, command(ui));
}

}  // namespace

PanelRoom attention_panel() {
    return {
        {"Attention", "what one target attends to: by position, by content, and both"},
        "attention",
        icon::eye,
        "Hover the picture to choose a target; click locks it. In a text a click on a character "
        "makes it the target. The maps show the share of "
        "every visible source; below them every channel by itself, sorted by its gate.",
        {{Workspace::attention, Slot::canvas, 0}},
        make_panel<AttentionPanel>};
}

}  // namespace aft::app

// Trace: one target followed back through all layers to the tokens that it was made of: the shares
// at the input of every layer as maps of the picture or text, and the strongest sources as a table
// whose rows lead further back.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/panels/attention/trace_maps.h"
#include "app/panels/panel.h"
#include "app/panels/shared/bias_map.h"
#include "app/panels/shared/copy_command.h"
#include "app/panels/shared/lock_words.h"
#include "app/panels/shared/sample_popup.h"
#include "app/panels/shared/tool_row.h"
#include "app/widgets/buttons.h"
#include "app/widgets/states.h"
#include "app/widgets/table.h"
#include "app/widgets/text.h"
#include "core/text.h"
#include "viz/color_bar.h"

namespace aft::app {

PanelRoom trace_panel();

namespace {

constexpr float kTraceTable = 400, kTraceBar = 44;
constexpr const char* kTraceIs =
    "An approximation (attention rollout): it follows shares of attention through the layers, not "
    "what values, MLPs and norms do to them.";
constexpr const char* kAloneIs =
    "What each layer by itself gives this target: its own row of implicit attention, the channels "
    "averaged with the gate as weight. Nothing is followed from layer to layer.";

class TracePanel final : public Panel {
  public:
    void draw(Ui& ui) override;
    void inspector(Ui& ui) override;
    void actions(Actions& actions) override;

  private:
    void draw_tools(Ui& ui, const Positions& positions);
    void draw_layers(PaneContext& ui);
    [[nodiscard]] bool is_alone() const { return layers_ == 1; }
    void draw_caption(PaneContext& ui, const Positions& positions);
    void draw_canvas(PaneContext& ui, const Positions& positions);
    void draw_side(PaneContext& ui, const Positions& positions, const viz::Box& box);
    void draw_table(PaneContext& ui, const Positions& positions, const TraceRow& row);
    void draw_bar(PaneContext& ui, const Positions& positions, const TraceRow& row);
    void draw_legend(PaneContext& ui) const;
    void draw_foot(PaneContext& ui, const Positions& positions);
    void go_to(ViewState& ui, int64_t target);
    void walk_back(ViewState& ui, const Positions& positions, int64_t source);
    void go_back(ViewState& ui);
    [[nodiscard]] std::string why_not_back(const ViewState& ui) const;

    TraceData data_;
    TraceMaps maps_;
    int layers_ = 0, residual_ = 0;
    std::string model_;           // that rows and trail are of
    std::vector<int64_t> trail_;  // targets before the chosen one
    int64_t read_layer_ = -1;     // whose map is under the pointer
    SampleTool sample_;
};

std::string percent(std::optional<double> share) {
    return share ? source_share_words(*share) : "\u2013";
}

std::string factor_words(const TraceSource& source) {
    const std::optional<double> factor = source.keys_factor();
    return factor ? "\u00D7" + plain_number(*factor, *factor < 10 ? 2 : 0) : "\u2013";
}

// The level that the source carries; of a text its place says it, of patches there is none.
std::string source_value(const ViewState& ui, const Positions& positions, int64_t source) {
    const std::vector<uint8_t> tokens = sample_tokens(ui);
    const auto i = size_t(source - 1);
    if (!positions.is_autoregressive || source < 1 || i >= tokens.size()) return "\u2013";
    return std::to_string(tokens[i]);
}

std::string traced_source(const ViewState& ui, const Positions& positions, int64_t source) {
    return place_and_byte(ui, positions, positions.source(source));
}

void TracePanel::go_to(ViewState& ui, int64_t target) {
    Cell cell = ui.selection.cell;
    cell.target = target;
    cell.source = -1;
    ui.selection.lock(cell);
}

void TracePanel::walk_back(ViewState& ui, const Positions& positions, int64_t source) {
    const Positions::GridPosition place = positions.source(source);
    if (!place.is_on_grid()) return;
    trail_.push_back(ui.selection.cell.target);
    go_to(ui, positions.target_at(place.y, place.x, place.channel));
}

std::string TracePanel::why_not_back(const ViewState& ui) const {
    if (!ui.has_model()) return "No model is open.";
    return trail_.empty() ? "No source was followed yet." : "";
}

void TracePanel::go_back(ViewState& ui) {
    const int64_t target = trail_.back();
    trail_.pop_back();
    if (target < ui.status.tokens) go_to(ui, target);
}

void TracePanel::actions(Actions& actions) {
    actions.add({.id = "trace.back",
                 .name = "Back to the target before",
                 .sentence = "Takes back the last step from a source to what it was made of.",
                 .icon = icon::undo,
                 .why_not = [this](const Ui& ui) { return why_not_back(ui); },
                 .run = [this](Ui& ui) { go_back(ui); }});
}

void TracePanel::draw_layers(PaneContext& ui) {
    inline_label(ui, "Layers");
    const Choice choices[] = {
        {.text = "Chained##chained",
         .tip = "Follows the target back through the layers above (attention rollout).",
         .formula = "r_l = r_(l+1) M_l"},
        {.text = "Each alone##alone",
         .tip = "Each layer's own attention of this target, all layers at once."}};
    (void)segmented(ui, "Layers##layers", layers_, {.list = choices});
}

void TracePanel::draw_tools(Ui& ui, const Positions& positions) {
    const float end = ImGui::GetCursorScreenPos().x + ImGui::GetContentRegionAvail().x;
    sample_.draw(ui);
    ImGui::SameLine(0, ui.px(12));
    (void)action_button(ui, "trace.back", ButtonKind::normal, "Back");
    std::vector<Tool> tools;
    if (positions.channels == 3)
        tools.push_back({176, [&] { target_channel_tool(ui, positions); }});
    tools.push_back({230, [&] { draw_layers(ui); }});
    tools.push_back({320, [&] {
                         inline_label(ui, "Residual");
                         const char* const why_not =
                             is_alone() ? "Nothing is followed through residual connections." : "";
                         const Choice choices[] = {
                             {.text = "Measured##measured",
                              .why_not = why_not,
                              .tip = "What was in the stream before the mixer added to it.",
                              .formula = "|x| / (|x| + |branch|)"},
                             {.text = "Half##half",
                              .why_not = why_not,
                              .tip = "Half of every share stays where it is."},
                             {.text = "None##none",
                              .why_not = why_not,
                              .tip = "All of every share goes through the mixer."}};
                         (void)segmented(ui, "Residual##residual", residual_, {.list = choices});
                     }});
    tool_row(ui, end - ImGui::GetItemRectMax().x, tools);
}

void TracePanel::draw_caption(PaneContext& ui, const Positions& positions) {
    const Watch& watch = data_.watch();
    const int64_t target = watch.fields() ? watch.shown().position : ui.selection.cell.target;
    const std::string over = over_image_words(ui);
    caption(
        ui,
        (is_alone() ? "Attention of target " : "Trace of target ") + positions.target_words(target),
        fmt::format("{}, last layer first, each on its own range{}{}  \u00B7  {}",
                    is_alone() ? "every layer alone" : "shares at the input of every layer",
                    positions.channels > 1 ? ", a pixel's channels summed" : "",
                    over.empty() ? "" : ", " + over, step_words(ui, data_.watch().fields())));
    hint(ui, is_alone() ? kAloneIs : kTraceIs);
}

void TracePanel::draw_table(PaneContext& ui, const Positions& positions, const TraceRow& row) {
    const bool has_prior = !row.prior.empty();
    std::vector<Column> columns = {{.title = "Source"}};
    const bool has_value = positions.is_autoregressive && !positions.is_text;
    if (has_value) columns.push_back({.title = "Value", .width = 56, .right = true});
    columns.push_back({.title = "Share", .width = 84, .right = true});
    if (has_prior) columns.push_back({.title = "By prior", .width = 84, .right = true});
    if (has_prior) columns.push_back({.title = "By keys", .width = 72, .right = true});
    std::vector<TableRow> rows;
    for (size_t i = 0; i < row.strongest.size(); ++i) {
        const TraceSource& source = row.strongest[i];
        TableRow line{.name = fmt::format("{0}##source_{0}", i)};
        line.cells.push_back(traced_source(ui, positions, source.position));
        if (has_value) line.cells.push_back(source_value(ui, positions, source.position));
        line.cells.push_back(percent(source.share));
        if (has_prior) line.cells.push_back(percent(source.prior));
        if (has_prior) line.cells.push_back(factor_words(source));
        line.selected = ui.selection.shown().source == source.position;
        rows.push_back(std::move(line));
    }
    const int pressed = table(ui, "Sources##sources", columns, rows);
    if (pressed >= 0) walk_back(ui, positions, row.strongest[size_t(pressed)].position);
}

void TracePanel::draw_bar(PaneContext& ui, const Positions& positions, const TraceRow& row) {
    viz::ColorBarView bar;
    bar.coloring = trace_coloring(ui, row);
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + ui.px(4));  // its handles stand out
    bar.width = std::min(ImGui::GetContentRegionAvail().x - ui.px(4), ui.px(360));
    bar.percent = true;
    bar.can_drag = false;
    const float share = row.shown_share(positions, ui.selection.shown().source);
    if (!std::isnan(share)) bar.marker = share;
    (void)draw_color_bar(bar, ui);
}

void TracePanel::draw_side(PaneContext& ui, const Positions& positions, const viz::Box& box) {
    const TraceRow* const row = data_.row(ui.selection.cell.layer);
    if (row == nullptr) return;
    ImGui::SetCursorScreenPos(box.low);
    if (ImGui::BeginChild("trace table", {box.width(), box.height()},
                          ImGuiChildFlags_NavFlattened)) {
        text(ui, trace_words(*row) + ": strongest sources",
             {text_size::label, ui.theme.text1, Face::semibold});
        draw_bar(ui, positions, *row);
        draw_legend(ui);
        draw_table(ui, positions, *row);
        hint(ui, row->prior.empty()
                     ? "Click a source: it becomes the target."
                     : "Click a source: it becomes the target. By prior: the same product of the "
                       "position biases alone; by keys: share over prior.");
    }
    ImGui::EndChild();
}

// What the lighter hatch means, where one of the maps has it.
void TracePanel::draw_legend(PaneContext& ui) const {
    if (std::ranges::all_of(data_.rows(), [](const TraceRow& row) { return row.masked.empty(); }))
        return;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const viz::Box box = {{at.x, at.y + ui.px(2)}, {at.x + ui.px(24), at.y + ui.px(14)}};
    viz::draw_mask_hatch(ui, box);
    text_at(ui, {box.high.x + ui.px(8), at.y}, kMaskedWords, {text_size::hint, ui.theme.text2});
    ui.recorder.area({.kind = "hint",
                      .path = ui.recorder.claim("Masked##masked"),
                      .min = box.low,
                      .max = {box.high.x + ui.px(160), box.high.y},
                      .value = kMaskedWords,
                      .why_not = {}});
    ImGui::Dummy({1, ui.px(18)});
}

void TracePanel::draw_canvas(PaneContext& ui, const Positions& positions) {
    const ImVec2 corner = ImGui::GetCursorScreenPos();
    const ImVec2 all = {ImGui::GetContentRegionAvail().x, canvas_height(ui) - ui.px(4)};
    const float gap = ui.px(20);
    const bool has_side = all.x > ui.px(kTraceTable) * 1.9F;
    const float wide = has_side ? all.x - ui.px(kTraceTable) - gap : all.x;
    const float tall = has_side ? all.y : std::floor(all.y * 0.55F);
    const viz::Box maps = {corner, {corner.x + wide, corner.y + tall}};
    const TraceMaps::TraceReply reply = maps_.draw(ui, data_, maps);
    read_layer_ = reply.read_layer;
    const ImVec2 low =
        has_side ? ImVec2(maps.high.x + gap, corner.y) : ImVec2(corner.x, reply.bottom + ui.px(8));
    draw_side(ui, positions, {low, {corner.x + all.x, corner.y + all.y}});
    ImGui::SetCursorScreenPos({corner.x, corner.y + all.y});
    if (reply.target >= 0) go_to(ui, reply.target);
}

void TracePanel::draw_foot(PaneContext& ui, const Positions& positions) {
    const int64_t layer = read_layer_ >= 0 ? read_layer_ : ui.selection.cell.layer;
    const int64_t source = ui.selection.shown().source;
    const TraceRow* const row = data_.row(layer);
    std::vector<ReadOut> values = {
        {"", row != nullptr ? trace_words(*row) : fmt::format("layer {}", layer)},
        {"target", place_and_byte(ui, positions, positions.target(ui.selection.cell.target))}};
    const auto one = row != nullptr ? row->source(source) : std::nullopt;
    if (row != nullptr && source >= 0) {
        const Positions::GridPosition place = positions.source(source);
        const float share = row->shown_share(positions, source);
        values.push_back({"source", positions.is_text ? place_and_byte(ui, positions, place)
                                                      : positions.pixel_words(place)});
        values.push_back(
            std::isnan(share)
                ? ReadOut{"share", row->is_masked(source) ? kMaskedWords : "not visible"}
                : ReadOut{"share", source_share_words(share), exact_number(share)});
        if (one && one->prior && positions.channels == 1)
            values.push_back({"prior", percent(one->prior), exact_number(float(*one->prior))});
        if (!row->is_alone) values.push_back({"kept by the residual", percent(row->kept)});
    }
    hover_line(ui, values,
               lock_words(ui, positions.is_text ? "Hover reads, click sets the target"
                                                : "Hover reads, click a map for its table"));
}

void TracePanel::draw(Ui& ui) {
    read_layer_ = -1;
    if (sample_state(ui)) return;
    if (ui.status.path != model_) {
        model_ = ui.status.path;
        data_.clear();
        trail_.clear();
    }
    if (no_attention_state(ui, "Nothing to trace in this model")) return;
    const Positions positions(ui.status);
    choose_target(ui, positions);
    draw_tools(ui, positions);
    if (sample_missing(ui)) return;
    data_.update(ui, TracedLayers(layers_), ResidualShare(residual_));
    draw_caption(ui, positions);
    const Watch& watch = data_.watch();
    if (!watch.error().empty())
        banner(ui, {.title = "This target could not be traced", .sentence = watch.error()});
    // Over a trace that is shown there are no words: what stands below would move.
    const char* const words = data_.rows().empty() ? "Computing this trace, layer by layer" : "";
    if (watch.is_pending() && progress_line(ui, words, -1, true)) data_.set_cancelled(ui, true);
    if (watch.is_cancelled() && cancelled_line(ui, "This trace was cancelled."))
        data_.set_cancelled(ui, false);
    if (!data_.rows().empty()) draw_canvas(ui, positions);
    draw_foot(ui, positions);
}

void TracePanel::inspector(Ui& ui) {
    if (!is_front() || !ui.has_model() || data_.rows().empty()) return;
    const Positions positions(ui.status);
    section(ui, "Selection##selection", {}, false);
    key_value(ui, "Target##target", positions.target_words(ui.selection.cell.target));
    key_value(ui, "Followed back##followed_back", std::to_string(trail_.size()),
              counted_unit("steps", trail_.size() == 1));
    const bool has_kept = !data_.rows().front().is_alone;
    if (has_kept) section(ui, "Kept by the residual##kept");
    for (const TraceRow& row : data_.rows())
        if (has_kept)
            key_value(ui, {fmt::format("Layer {}", row.layer), fmt::format("layer_{}", row.layer)},
                      plain_number(100 * row.kept, 3), "%");
    section(ui, "Display##display");
    over_image_controls(ui);
    section(ui, "Actions##actions");
    action_button(ui, "selection.pin", ButtonKind::normal, "Pin target");
    ImGui::SameLine(0, ui.px(8));
    copy_command_button(ui, command_of(ui, data_.watch()));
}

}  // namespace

PanelRoom trace_panel() {
    return {.info = {"Trace", "what one target was made of, through all layers"},
            .id = "trace",
            .icon = icon::branch,
            .help =
                "Click a pixel, or a character of a text: the maps show from which places its "
                "prediction came, layer by layer down to the tokens. A click on a map shows its "
                "strongest sources in the table; a click on one of those makes it the target, so "
                "that you walk further back; Back returns. It is an approximation: shares of "
                "attention are followed, and residual connections keep what their norms say.",
            .places = {{Workspace::attention, Slot::canvas, 3}},
            .make = make_panel<TracePanel>};
}

}  // namespace aft::app

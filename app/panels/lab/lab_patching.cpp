// Patching: two inputs, and where in the network their difference decides: what the activations of
// the other one, layer by layer and row by row, do to the loss of the first.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/panels/lab/lab_actions.h"
#include "app/panels/lab/lab_words.h"
#include "app/panels/panel.h"
#include "app/panels/shared/copy_command.h"
#include "app/panels/shared/sample_input.h"
#include "app/panels/shared/sample_popup.h"
#include "app/panels/shared/tool_row.h"
#include "app/panels/shared/watch.h"
#include "app/state/probe_options.h"
#include "app/widgets/buttons.h"
#include "app/widgets/fields.h"
#include "app/widgets/states.h"
#include "app/widgets/text.h"
#include "core/outside.h"
#include "core/text.h"
#include "viz/color_bar.h"
#include "viz/map.h"

namespace aft::app {

PanelRoom patching_panel();

namespace {

constexpr float kBar = 40;  // below the map, with its numbers

class PatchingPanel final : public Panel {
  public:
    void draw(Ui& ui) override;

  private:
    void draw_tools(Ui& ui);
    void take(const PaneContext& ui);
    void draw_map(PaneContext& ui);
    [[nodiscard]] CopiedCommand command(const Ui& ui) const;
    void copy_command(Ui& ui);
    [[nodiscard]] std::shared_ptr<const DataItem> other(const PaneContext& ui) const;
    int64_t other_ = 1;      // example of the same part
    int64_t token_ = -1;     // whose loss; -1 = all
    int64_t asked_ = 0;      // the other example that was asked for
    bool is_asked_ = false;  // it costs a pass of each layer and group: only when asked for
    ProbeRequest request_;
    std::string asked_words_;  // of that request
    Watch watch_;
    struct PatchedLosses {
        std::vector<float> values;  // [layers, groups], in the task's unit
        int64_t layers = 0, groups = 0;
        double untouched = 0;
        Range range;
        std::string words;  // which examples, step and token these are of
        uint64_t version = 0;
    } found_;
    viz::Map map_;
    SampleTool sample_;
};

std::shared_ptr<const DataItem> PatchingPanel::other(const PaneContext& ui) const {
    return ui.session->items().example(ui.selection.image.split, other_);
}

CopiedCommand PatchingPanel::command(const Ui& ui) const {
    if (!ui.selection.image.path.empty())
        return {"", "The command compares two examples of the data, not a picture's file."};
    CopiedCommand out = command_of(ui, watch_);
    if (!out.why_not.empty()) return out;
    const std::vector<uint8_t> first = sample_tokens(ui);
    if (request_.tokens.size() != 2 * first.size() ||
        !std::equal(first.begin(), first.end(), request_.tokens.begin()))
        return {"", "Another example is chosen than this map's: press Patch first."};
    std::string more = fmt::format(" --other {}", asked_);
    const LabChoice& lab = ui.selection.lab;
    if (lab.active() != request_.recipe)
        return {"", "The interventions are others than this map's: press Patch first."};
    if (!request_.recipe.is_untouched()) {
        more += " --recipe " + shell_word(lab.file);
        out.is_whole = ui.picture.is_now() && is_recipe_saved(lab);
    }
    out.command.insert(out.command.rfind(" -o "), more);
    return out;
}

// With interventions they are saved as a recipe before, which the command then names.
void PatchingPanel::copy_command(Ui& ui) {
    const CopiedCommand copied = command(ui);
    if (!copy_command_pressed(ui, copied)) return;
    if (request_.recipe.is_untouched() || save_recipe(ui)) put_command(ui, command(ui));
}

// Beside what stands there, or on a new line where this one is full. `width` at scale 1.
void next_tool(const DrawContext& ui, float width) {
    ImGui::SameLine(0, ui.px(12));
    if (ImGui::GetContentRegionAvail().x < ui.px(width)) ImGui::NewLine();
}

void PatchingPanel::draw_tools(Ui& ui) {
    sample_.draw(ui);
    next_tool(ui, 200);
    inline_label(ui, "Other example");
    (void)drag_field(ui,
                     {.name = "Other example##other_example",
                      .min = 0,
                      .max = 1e6,
                      .integer = true,
                      .tip = "The example whose activations replace those of the first.",
                      .width = 90,
                      .drag_speed = 0.2F},
                     other_);
    if (ui.status.task.is_autoregressive) {
        next_tool(ui, 150);
        inline_label(ui, "Token");
        (void)drag_field(ui,
                         {.name = "Token##patched_token",
                          .min = -1,
                          .max = double(ui.status.tokens - 1),
                          .standard = -1,
                          .integer = true,
                          .at_min = "mean",
                          .tip = "The token whose loss is measured; mean = over all tokens.",
                          .width = 90,
                          .drag_speed = 0.2F},
                         token_);
    }
    next_tool(ui, 72);
    const auto second = other(ui);
    const std::vector<uint8_t> first = sample_tokens(ui);
    const bool fits = second && !first.empty() && second->tokens.size() == first.size();
    const bool patches = button(ui, {.name = "Patch##patch",
                                     .why_not = fits ? ""
                                                     : "Both examples are needed, of one "
                                                       "length.",
                                     .tip = "One forward pass for each cell of the map."});
    ImGui::SameLine(0, ui.px(8));
    copy_command(ui);
    if (!patches) return;
    asked_ = other_;
    request_ = {};
    request_.probe = "patching";
    request_.step = lab_step(ui).value_or(MeasuredStep{.asked = -1}).asked;
    request_.recipe = ui.selection.lab.active();
    request_.tokens = first;
    request_.tokens.insert(request_.tokens.end(), second->tokens.begin(), second->tokens.end());
    if (ui.status.task.is_autoregressive && token_ >= 0)
        request_.options[kPositionOption] = std::to_string(token_);
    is_asked_ = true;
    const ImageChoice& chosen = ui.selection.image;
    asked_words_ = fmt::format("{} {} with activations of {}  \u00B7  {}", chosen.split,
                               chosen.index, other_, printable_line(ui.status.name));
}

void PatchingPanel::take(const PaneContext& ui) {
    constexpr double kHold = 5;  // seconds between two looks while another process trains
    if (const auto step = lab_step(ui)) request_.step = step->asked;
    AskTurn turn;
    if (!watch_.update(ui, request_, turn, kHold)) return;
    const Field& field = watch_.fields()->fields.front();
    found_.layers = field.shape.at(0);
    found_.groups = field.shape.at(1);
    found_.values.clear();
    for (const float nats : field.values) found_.values.push_back(float(shown_loss(ui, nats)));
    found_.untouched = shown_loss(ui, std::atof(field.notes.at("untouched").c_str()));
    found_.range = value_range(found_.values, 100, true);
    const auto token = request_.options.find(kPositionOption);
    found_.words = fmt::format("{}, step {}  \u00B7  {}", asked_words_, group_thousands(field.step),
                               token == request_.options.end() ? "mean loss of all tokens"
                                                               : "loss of token " + token->second);
    ++found_.version;
}

void PatchingPanel::draw_map(PaneContext& ui) {
    viz::MapView view;
    view.id = "patching";
    view.data = {found_.values, found_.layers, found_.groups, {}, found_.version};
    view.coloring = {found_.range, Scale::signed_linear, ui.theme.diverging};
    caption(ui, "Change of the loss", found_.words + ", " + loss_unit(ui));
    const float height = canvas_height(ui) - ui.px(kBar);
    view.area = {ImGui::GetContentRegionAvail().x, std::max(ui.px(60), height)};
    view.row_label = [](int64_t row) { return fmt::format("L{}", row); };
    view.column_label = [](int64_t column) { return std::to_string(column); };
    view.free_axes = true;
    view.is_signed = true;
    view.dimmed = watch_.is_pending();
    const viz::MapReply reply = map_.draw(view, ui);
    ui.recorder.area({.kind = "map",
                      .path = ui.recorder.claim("Map##patching_map"),
                      .min = reply.map.low,
                      .max = reply.map.high,
                      .value = fmt::format("{}x{}", found_.layers, found_.groups),
                      .why_not = {}});
    viz::ColorBarView bar;
    bar.id = "patching bar";
    bar.coloring = view.coloring;
    bar.width = std::min(ImGui::GetContentRegionAvail().x, ui.px(360));
    bar.can_drag = false;
    if (reply.hovered.is_valid())
        bar.marker = view.data.at(reply.hovered.row, reply.hovered.column);
    (void)draw_color_bar(bar, ui);
    std::vector<ReadOut> values{{"untouched", fmt::format("{:.4f}", found_.untouched)}};
    if (reply.hovered.is_valid()) {
        const auto place = size_t(reply.hovered.row * found_.groups + reply.hovered.column);
        values.push_back({"layer", std::to_string(reply.hovered.row)});
        values.push_back(
            {ui.status.task.is_text() ? "span" : "row", std::to_string(reply.hovered.column)});
        values.push_back(
            {"change", signed_number(found_.values[place], 4), exact_number(found_.values[place])});
    }
    hover_line(ui, values, loss_unit(ui));
}

void PatchingPanel::draw(Ui& ui) {
    if (sample_state(ui)) return;
    draw_tools(ui);
    if (sample_missing(ui)) return;
    const char* const place = is_text(ui) ? "span of the text" : "row of the picture";
    hint(ui,
         fmt::format("How the loss of the first example changes when the activations after a layer "
                     "(row of the map) are those of the other example at a {} (column), and "
                     "nothing else is. Large: there the difference of the two is decided.",
                     place));
    if (!is_asked_)
        return empty_state(ui, {.drawing = Drawing::layers,
                                .title = "Nothing patched yet",
                                .sentence = "Choose the other example above and press Patch: one "
                                            "forward pass for each cell of the map."});
    take(ui);
    if (!watch_.error().empty())
        banner(ui, {.title = "These two cannot be compared", .sentence = watch_.error() + "."});
    if (watch_.is_pending()) (void)progress_line(ui, "Reading layer by layer", -1);
    if (!found_.values.empty()) draw_map(ui);
}

}  // namespace

PanelRoom patching_panel() {
    return {.info = {"Patching", "Where in the network the difference of two inputs decides."},
            .id = "patching",
            .icon = icon::swap,
            .help =
                "Activation patching: the residual stream of the first example is replaced, "
                "after one layer and in one row of the picture, by that of another example. "
                "The map shows what each replacement does to the loss of the first: of a "
                "classifier the loss of the class that it gives it. Active interventions "
                "count. `afterimage probe patching --data SPEC --index A --other B` writes the "
                "same numbers.",
            .places = {{Workspace::lab, Slot::canvas, 1}},
            .make = make_panel<PatchingPanel>};
}

}  // namespace aft::app

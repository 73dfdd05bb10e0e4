// Your operator: what a user's own code gives for q, k, v and w against the operator in float64.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "app/panels/panel.h"
#include "app/panels/shared/tool_row.h"
#include "app/state/background.h"
#include "app/widgets/buttons.h"
#include "app/widgets/combo.h"
#include "app/widgets/fields.h"
#include "app/widgets/number_text.h"
#include "app/widgets/states.h"
#include "app/widgets/table.h"
#include "app/widgets/text.h"
#include "app/widgets/text_fields.h"
#include "core/caught.h"
#include "core/text.h"
#include "model/jobs/op.h"

namespace aft::app {

PanelRoom operator_panel();

namespace {

struct OperatorAnswer {
    OpRequest request;
    OpResult result;
    std::string error;
};

std::string place_in(const OpDifference& one) {
    return one.at.empty() ? "\u2013" : fmt::format("({})", fmt::join(one.at, ", "));
}

class OperatorPanel final : public Panel {
  public:
    OperatorPanel() {
        chosen_.name = op_traits().front().name;
        chosen_.precision = "fp64";
        chosen_.compare = true;
    }
    void draw(Ui& ui) override;

  private:
    void take_defaults(const ViewState& ui);
    void draw_file(PaneContext& ui);
    void draw_options(PaneContext& ui, const OpTraits& traits);
    void draw_buttons(PaneContext& ui, const OpTraits& traits);
    void draw_answer(Ui& ui, const OperatorAnswer& answer);
    [[nodiscard]] OpRequest request_of(const OpTraits& traits) const;
    uint64_t opened_ = 0;  // the session that the defaults are of
    OpRequest chosen_;
    int64_t window_ = 1;
    bool asks_file_ = false;  // the file browser
    Background<OperatorAnswer> work_;
};

// The operator of the open model, so that its own layers are compared without a further choice.
void OperatorPanel::take_defaults(const ViewState& ui) {
    if (opened_ == ui.opened || !ui.has_model()) return;
    opened_ = ui.opened;
    const MixerTraits& mixer = ui.status.mixer;
    if (mixer.op.empty()) return;
    chosen_.name = mixer.op;
    window_ = mixer.window;
    chosen_.causal = ui.status.task.is_autoregressive;
    chosen_.outside_hidden = mixer.outside_hidden;
    chosen_.grid_height = ui.status.grid_height;
    chosen_.grid_width = ui.status.grid_width;
}

void OperatorPanel::draw_file(PaneContext& ui) {
    if (asks_file_ && !ui.file_chosen.empty()) {
        chosen_.in = std::exchange(ui.file_chosen, {});
        asks_file_ = false;
    }
    label_column(ui, "File");
    (void)text_field(
        ui,
        {.name = "File##file",
         .hint = "mine.safetensors",
         .width = ImGui::GetContentRegionAvail().x / ui.scale - 34,
         .mono = true,
         .tip = "safetensors or PyTorch: q, k, v, w (or u, r) and y; for gradients also "
                "dy, and those of dq, dk, dv, dw that you have."},
        chosen_.in);
    ImGui::SameLine(0, ui.px(8));
    if (button(ui, {.name = "Choose the file##choose_file",
                    .icon = icon::folder,
                    .kind = ButtonKind::icon,
                    .tip = "A file of tensors."})) {
        asks_file_ = true;
        ui.commands.send(BrowseFiles{.question = "Which file holds your tensors?"});
    }
}

void size_field(PaneContext& ui, const WidgetName& name, const char* tip, int64_t& value) {
    (void)drag_field(ui,
                     {.name = name,
                      .min = 0,
                      .max = 1e6,
                      .integer = true,
                      .tip = tip,
                      .width = 80,
                      .drag_speed = 0.2F},
                     value);
}

// "14 × 14", on one line.
void grid_fields(PaneContext& ui, OpRequest& request) {
    inline_label(ui, "Grid");
    size_field(ui, "Rows##rows", "Rows of the grid: rows \u00D7 columns = T.", request.grid_height);
    ImGui::SameLine(0, ui.px(6));
    constexpr const char* kTimes = "\u00D7";
    const ImVec2 at = ImGui::GetCursorScreenPos();
    text_at(ui, {at.x, at.y + (ui.px(26) - ui.px(text_size::label)) / 2}, kTimes,
            {text_size::label, ui.theme.text2});
    ImGui::Dummy({text_extent(ui, kTimes, text_size::label).x, ui.px(26)});
    ImGui::SameLine(0, ui.px(6));
    size_field(ui, "Columns##columns", "Columns of the grid.", request.grid_width);
}

void OperatorPanel::draw_options(PaneContext& ui, const OpTraits& traits) {
    (void)toggle(ui, "Causal##causal", chosen_.causal,
                 {.words = "Causal", .tip = "A target sees the sources up to itself."});
    // A control with so many pixels at scale 1 beside its words: on a new line where this one is
    // full.
    const auto next = [&](const char* words, float beside) {
        ImGui::SameLine(0, ui.px(16));
        const float wide = text_extent(ui, words, text_size::label).x + ui.px(beside);
        if (ImGui::GetContentRegionAvail().x < wide) ImGui::NewLine();
    };
    constexpr float kToggle = 44, kField = 92, kGrid = 198;
    next("Gradients", kToggle);
    (void)toggle(ui, "Gradients##gradients", chosen_.grad,
                 {.words = "Gradients", .tip = "Of dy in the file, compared with dq, dk, ..."});
    if (traits.has_window) {
        next("Window", kField);
        inline_label(ui, "Window");
        size_field(ui, "Window##window", "w counts where |t - t'| < this.", window_);
    }
    if (traits.has_grid) {
        next("Grid", kGrid);
        grid_fields(ui, chosen_);
    }
    if (!traits.has_outside) return;
    next("Hidden outside", kToggle);
    (void)toggle(
        ui, "Hidden outside##hidden_outside", chosen_.outside_hidden,
        {.words = "Hidden outside",
         .tip = "Sources outside the window are invisible (w = -inf), else w is 0 there."});
}

OpRequest OperatorPanel::request_of(const OpTraits& traits) const {
    OpRequest request = chosen_;
    if (traits.has_window) request.window = window_;
    if (!traits.has_grid) request.grid_height = request.grid_width = 0;
    request.outside_hidden = traits.has_outside && chosen_.outside_hidden;
    return request;
}

std::string command_words(const OpRequest& request) {
    std::string out =
        fmt::format("afterimage op {} {} --compare", request.name, shell_word(request.in));
    if (request.causal) out += " --causal";
    if (request.window) out += fmt::format(" --window {}", *request.window);
    if (request.grid_height > 0)
        out += fmt::format(" --grid {}x{}", request.grid_height, request.grid_width);
    if (request.outside_hidden) out += " --outside -inf";
    if (request.grad) out += " --grad";
    return out + " --precision " + request.precision;
}

void OperatorPanel::draw_buttons(PaneContext& ui, const OpTraits& traits) {
    // With interventions the filled one is Add, in their list.
    const bool is_alone = ui.selection.lab.recipe.interventions.empty();
    if (button(ui, {.name = "Compare##compare",
                    .kind = is_alone ? ButtonKind::primary : ButtonKind::normal,
                    .why_not = chosen_.in.empty() ? "Name a file first."
                               : work_.is_busy()  ? "It is being compared."
                                                  : "",
                    .tip = "Computes the operator in float64 and finds where yours is farthest."}))
        work_.start([request = request_of(traits)](const auto& publish, const std::stop_token&) {
            OperatorAnswer answer{.request = request, .result = {}, .error = {}};
            answer.error = error_words([&] { answer.result = op_job(request); });
            publish(std::move(answer));
        });
    ImGui::SameLine(0, ui.px(8));
    if (button(ui, {.name = "Copy as command##copy_as_command",
                    .why_not = chosen_.in.empty() ? "Name a file first." : "",
                    .tip = "Copies the command that prints the same."}))
        ImGui::SetClipboardText(command_words(request_of(traits)).c_str());
}

std::string verdict_words(const OpResult& result) {
    const auto worst = std::ranges::max_element(result.differences, {}, &OpDifference::relative);
    const std::string amount =
        fmt::format("{} of the largest value, in {}", significant(worst->relative, 2), worst->name);
    const std::string within = significant(result.within, 1);
    return result.agrees()
               ? fmt::format("yes: at most {}; {} is allowed", amount, within)
               : fmt::format("no: {} at {}; {} is allowed", amount, place_in(*worst), within);
}

void OperatorPanel::draw_answer(Ui& ui, const OperatorAnswer& answer) {
    if (!answer.error.empty()) {
        banner(ui, {.title = "These cannot be compared", .sentence = answer.error + "."});
        return;
    }
    const OpResult& result = answer.result;
    section(ui, "Difference##difference",
            fmt::format("{}, against ours in float64", answer.request.name));
    key_value(ui, "Agrees##agrees", verdict_words(result));
    const Column columns[] = {
        {.title = "Tensor", .width = 70},      {.title = "Relative", .right = true},
        {.title = "Absolute", .right = true},  {.title = "At", .right = true},
        {.title = "Yours", .right = true},     {.title = "Ours", .right = true},
        {.title = "Not finite", .right = true}};
    std::vector<TableRow> rows;
    for (const OpDifference& one : result.differences)
        rows.push_back(
            {.name = fmt::format("{0}##{0}", one.name),
             .cells = {one.name, significant(one.relative, 3), significant(one.largest, 3),
                       place_in(one), significant(one.theirs, 9), significant(one.ours, 9),
                       group_thousands(one.not_finite)}});
    (void)table(ui, "Tensors##tensors", columns, rows);
    if (!result.ignored.empty())
        hint(ui, fmt::format("Without a use here: {}.", fmt::join(result.ignored, ", ")));
}

void OperatorPanel::draw(Ui& ui) {
    take_defaults(ui);
    hint(ui,
         "Write q, k, v, w and y, what your code gives for them, into one file: the largest "
         "difference from the exact result, and where it is. Relative: over the largest value "
         "of the tensor.");
    draw_file(ui);
    label_column(ui, "Operator");
    static const std::vector<OpTraits> all = op_traits();
    std::vector<std::string> names;
    for (const OpTraits& one : all) names.push_back(fmt::format("{0}##{0}", one.name));
    const auto now = std::ranges::find(all, chosen_.name, &OpTraits::name);
    int chosen = now == all.end() ? 0 : int(now - all.begin());
    if (combo(ui, "Operator##operator", chosen,
              {.list = names, .width = 130, .tip = "As `afterimage op` calls it."}))
        chosen_.name = all[size_t(chosen)].name;
    const OpTraits& traits = all[size_t(chosen)];
    ImGui::SameLine(0, ui.px(16));
    draw_options(ui, traits);
    draw_buttons(ui, traits);
    if (work_.is_busy()) {
        (void)progress_line(ui, "Comparing", -1);
        ui.want_frames(2);
    }
    if (const auto answer = work_.latest()) return draw_answer(ui, *answer);
    if (work_.is_busy()) return;
    empty_state(ui, {.drawing = Drawing::grid,
                     .title = "Nothing compared yet",
                     .sentence = "Choose the file with your tensors above and press Compare."});
}

}  // namespace

PanelRoom operator_panel() {
    return {.info = {"Your operator", "Does your own code give what the operator gives?"},
            .id = "your_operator",
            .icon = icon::check,
            .help =
                "An operator of your own against the one here: a file with q, k, v and w (shapes "
                "as `afterimage op` takes them) and y, your result for them, is compared with "
                "the exact one in float64; with Gradients also dq, dk, dv, dw for dy. The table "
                "has the largest difference of each, where it is, and both values there. "
                "`afterimage op NAME FILE --compare` prints the same and ends with exit code 1 "
                "where they do not agree.",
            .places = {{Workspace::lab, Slot::canvas, 3}},
            .make = make_panel<OperatorPanel>};
}

}  // namespace aft::app

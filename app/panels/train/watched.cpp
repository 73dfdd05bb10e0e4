// Watched: what is pinned, measured at every stored step: the values of pinned cells, a number
// of pinned heads, the attention of pinned targets in the chosen picture, and its loss, as curves;
// below them the standing experiments.
#include <fmt/format.h>

#include <algorithm>

#include "app/panels/panel.h"
#include "app/panels/shared/bias_map.h"
#include "app/panels/shared/copy_command.h"
#include "app/panels/shared/formation_choice.h"
#include "app/panels/shared/loss_words.h"
#include "app/panels/shared/model_state.h"
#include "app/panels/shared/sample_input.h"
#include "app/panels/shared/step_series.h"
#include "app/panels/shared/tool_row.h"
#include "app/panels/train/watched_experiments.h"
#include "app/state/probe_options.h"
#include "app/widgets/buttons.h"
#include "app/widgets/states.h"
#include "app/widgets/text.h"
#include "core/text.h"
#include "model/model_files.h"
#include "viz/curves.h"

namespace aft::app {

PanelRoom watched_panel();

namespace {

constexpr size_t kMostWatched = 8;  // curves of a plot: the newest pins
constexpr float kLeastPlot = 150, kMostPlot = 260;

// One curve: a number of a probe's answer at every stored step.
struct WatchedLine {
    std::string words;
    ProbeRequest request;
    size_t index = 0;         // of the field's values
    double factor = 1;        // to the unit on screen
    bool is_of_head = false;  // index counts within the row of `cell`, whose place the answer says
    Cell cell{};
};
struct WatchedGroup {
    const char* id;
    std::string title, unit;
    std::vector<WatchedLine> lines;
};
struct WatchedCurve {
    std::vector<double> steps, values;
    bool is_masked = false;  // w = -inf at every step
};

class WatchedPanel final : public Panel {
  public:
    void draw(Ui& ui) override;
    void inspector(Ui& ui) override;

  private:
    struct WatchedSeries {
        ProbeRequest request;
        StepSeries steps;
    };
    [[nodiscard]] WatchedCurve curve(const WatchedLine& line) const;
    void update(PaneContext& ui, const std::vector<WatchedGroup>& groups);
    void draw_plot(PaneContext& ui, const WatchedGroup& group, float tall);
    [[nodiscard]] bool is_empty(Ui& ui, const std::vector<WatchedGroup>& groups) const;
    std::vector<WatchedSeries> series_;  // one a request
    WatchedExperiments experiments_;
    size_t missing_ = 0;
    int number_ = 0;  // of the pinned heads, in kFormation
};

std::vector<Pin> newest_pins(const ViewState& ui) {
    const std::vector<Pin>& all = ui.selection.pins;
    return {all.size() > kMostWatched ? all.end() - kMostWatched : all.begin(), all.end()};
}

bool has_pair(const Cell& cell) {
    return cell.target >= 0 && cell.source >= 0;
}

// w, or what the maps show of it, at the pinned cells.
WatchedGroup cells_of(const ViewState& ui, const std::vector<Pin>& pins) {
    const Selection& selection = ui.selection;
    WatchedGroup out{"cells", quantity_words(selection.quantity), "at the pinned cells", {}};
    const MixerTraits& mixer = ui.status.mixer;
    for (const Pin& pin : pins) {
        WatchedLine line{.words = pin.shown(), .request = {}};
        line.request.layer = pin.cell.layer;
        if (mixer.has_kernel() && pin.cell.tap >= 0) {
            line.request.probe = "kernel";
            line.request.head = std::max<int64_t>(0, pin.cell.head);
            kQuantityOption.set(line.request, quantity_of_kernel(selection.quantity));
            line.index = size_t(pin.cell.tap);
        } else if (mixer.has_bias() && !mixer.has_kernel() && has_pair(pin.cell)) {
            line.request.probe = "bias";
            if (mixer.heads > 1) line.request.head = std::max<int64_t>(0, pin.cell.head);
            kQuantityOption.set(line.request, selection.quantity);
            kGaugeOption.set(line.request, selection.gauge);
            kVisibleOption.set(line.request, HiddenSources::nan);
            line.request.options[kRowOption] = std::to_string(pin.cell.target);
            line.index = size_t(pin.cell.source);
        } else {
            continue;
        }
        out.lines.push_back(std::move(line));
    }
    return out;
}

// A number of layers and heads of the pins, each once.
WatchedGroup heads_of(const ViewState& ui, const std::vector<Pin>& pins, size_t number) {
    const FormationNumber& of = kFormation[number];
    const std::string unit = number == 0 ? rms_pairs(ui.status.mixer.has_kernel()) : of.unit;
    WatchedGroup out{
        "norms", of.words, "of the pinned heads, " + unit + (of.is_share ? ", %" : ""), {}};
    if (!ui.status.mixer.has_bias()) return out;
    for (const Pin& pin : pins) {
        const int64_t head = pin.cell.head;
        WatchedLine line{.words = head >= 0 ? fmt::format("L{} h{}", pin.cell.layer, head)
                                            : fmt::format("L{}", pin.cell.layer),
                         .request = {},
                         .index = number,
                         .factor = of.is_share ? 100.0 : 1.0,
                         .is_of_head = true,
                         .cell = pin.cell};
        line.request.probe = "formation";
        const auto is_same = [&](const WatchedLine& other) { return other.words == line.words; };
        if (std::none_of(out.lines.begin(), out.lines.end(), is_same))
            out.lines.push_back(std::move(line));
    }
    return out;
}

WatchedGroup attention_of(const ViewState& ui, const std::vector<Pin>& pins) {
    WatchedGroup out{
        "attention", "Attention", "of the pinned pairs in " + sample_words(ui) + ", %", {}};
    const std::vector<uint8_t> tokens = sample_tokens(ui);
    if (tokens.empty() || !ui.status.mixer.no_attention.empty()) return out;
    for (const Pin& pin : pins) {
        if (!has_pair(pin.cell)) continue;
        WatchedLine line{.words = pin.shown(), .request = {}};
        line.request.probe = "attention";
        line.request.layer = pin.cell.layer;
        line.request.position = pin.cell.target;
        line.request.tokens = tokens;
        kPartOption.set(line.request, AttentionPart::both);
        kReduceOption.set(line.request, Reduce::mean);
        line.index = size_t(pin.cell.source);
        line.factor = 100;
        out.lines.push_back(std::move(line));
    }
    return out;
}

WatchedGroup loss_of(const ViewState& ui) {
    WatchedGroup out{"loss", "Loss", "of " + sample_words(ui) + ", " + loss_unit(ui), {}};
    const ImageChoice& image = ui.selection.image;
    if (!image.item || ui.status.task.is_mixer_alone || ui.status.task.is_bias_alone) return out;
    WatchedLine line{.words = "loss", .request = {}};
    line.request.probe = "loss";
    line.request.tokens = image.item->tokens;
    if (ui.status.task.has_classes) {
        if (image.item->label < 0) return out;
        line.request.labels = {image.item->label};
    }
    line.factor = shown_loss(ui, 1);
    out.lines.push_back(std::move(line));
    return out;
}

// The series share the worker's places: only the first that still misses a step asks. Those that
// nothing asks for any more go.
void WatchedPanel::update(PaneContext& ui, const std::vector<WatchedGroup>& groups) {
    std::vector<WatchedSeries> kept;
    const auto is_of = [](const ProbeRequest& request) {
        return [&request](const WatchedSeries& one) { return one.request == request; };
    };
    for (const WatchedGroup& group : groups)
        for (const WatchedLine& line : group.lines) {
            if (std::any_of(kept.begin(), kept.end(), is_of(line.request))) continue;
            const auto old = std::find_if(series_.begin(), series_.end(), is_of(line.request));
            kept.push_back(old != series_.end() ? std::move(*old)
                                                : WatchedSeries{line.request, {}});
        }
    series_ = std::move(kept);
    missing_ = 0;
    for (WatchedSeries& series : series_) {
        if (missing_ > 0) break;
        (void)series.steps.update(ui, series.request);
        missing_ += series.steps.missing();
    }
}

// An answer names the step whose weights it is of: several stored steps may share a checkpoint.
WatchedCurve WatchedPanel::curve(const WatchedLine& line) const {
    WatchedCurve out;
    const auto series = std::find_if(series_.begin(), series_.end(), [&](const WatchedSeries& one) {
        return one.request == line.request;
    });
    if (series == series_.end()) return out;
    for (const auto& [step, fields] : series->steps.fields()) {
        const Field& field = fields->fields.front();
        size_t index = line.index;
        if (line.is_of_head) {
            const auto row = formation_row(field, line.cell.layer, line.cell.head);
            index = row ? *row * kFormationNumbers + line.index : field.values.size();
        }
        if (index >= field.values.size()) continue;
        if (!out.steps.empty() && double(field.step) <= out.steps.back()) continue;
        const bool is_mask = field.notes.contains("masks") && std::isnan(field.values[index]);
        out.is_masked = is_mask && (out.is_masked || out.steps.empty());
        out.steps.push_back(double(field.step));
        out.values.push_back(line.factor * field.values[index]);
    }
    return out;
}

void WatchedPanel::draw_plot(PaneContext& ui, const WatchedGroup& group, float tall) {
    std::vector<WatchedCurve> curves;
    for (const WatchedLine& line : group.lines) curves.push_back(curve(line));
    viz::CurvePlot plot;
    plot.id = group.id;
    plot.title = group.title;
    plot.unit = group.unit;
    plot.size = {ImGui::GetContentRegionAvail().x - ui.px(120), tall};
    if (ui.selection.step >= 0) plot.now = double(ui.selection.step);
    size_t points = 0;
    std::string masked;
    for (size_t i = 0; i < curves.size(); ++i) {
        if (curves[i].is_masked) {
            masked += (masked.empty() ? "" : ", ") + group.lines[i].words;
            continue;
        }
        points += curves[i].steps.size();
        plot.curves.push_back({.label = group.lines[i].words,
                               .x = curves[i].steps,
                               .y = curves[i].values,
                               .color = ui.theme.series[i % std::size(ui.theme.series)],
                               .dots = curves[i].steps.size() <= 64,
                               .decimals = 4});
    }
    const ImVec2 at = ImGui::GetCursorScreenPos();
    viz::CurveReply reply;
    if (!masked.empty()) masked = "  \u00B7  " + masked + ": " + kMaskedWords;
    if (points > 0) plot.unit += masked;
    if (points > 0)
        reply = draw_curves(plot, ui);
    else
        caption(ui, group.title,
                group.unit + (!masked.empty() ? masked
                              : missing_ > 0  ? ": reading"
                                              : ": no saved step"));
    const bool has_last = !curves.empty() && !curves[0].values.empty();
    ui.recorder.area(
        {.kind = "plot",
         .path = ui.recorder.claim({group.title + ", " + group.unit, group.id}),
         .min = at,
         .max = {at.x + plot.size.x, at.y + tall},
         .value = fmt::format(
             "{} curves, {} points{}", curves.size(), points,
             has_last ? ", last " + exact_number(float(curves[0].values.back())) : std::string()),
         .why_not = {}});
    if (reply.clicked) ui.commands.send(ShowStep{std::llround(*reply.clicked)});
}

// Nothing can be drawn: says what to do.
bool WatchedPanel::is_empty(Ui& ui, const std::vector<WatchedGroup>& groups) const {
    const bool is_single = ui.history.size() < 2;
    if (!ui.experiments.is_empty() || (!groups.empty() && !is_single)) return false;
    empty_state(
        ui,
        {.drawing = Drawing::curve,
         .title = is_single ? "One stored step so far" : "Nothing is watched",
         .sentence = "Pin a cell or a head with P: its value, RMS of w or entropy, and "
                     "attention at every stored step are drawn here, and the loss of the chosen "
                     "picture. Watch over training, in the Lab and in Complete, adds "
                     "what interventions cost and how the model completes.",
         .primary = {},
         .secondary = {},
         .hint = {}});
    return true;
}

// A line for each curve that is drawn: a file with its numbers along the stored steps.
CopiedCommand watched_command(const ViewState& ui, const std::vector<ProbeRequest>& requests) {
    if (is_checkpoint_file(ui.status.path)) return {"", "A checkpoint has one step."};
    const ImageChoice& image = ui.selection.image;
    CopiedCommand out{
        .command = {},
        .why_not = {},
        .note =
            "A line for each curve, its numbers along the stored steps: of bias and attention "
            "a target's row, of formation all heads, the loss in nats."};
    size_t count = 0;
    for (const ProbeRequest& request : requests) {
        // What no command takes: labels, and a picture that is a completion.
        if (!request.labels.empty()) continue;
        if (!request.tokens.empty() && !image.is_given()) continue;
        const std::string file = fmt::format("watched-{}.npy", ++count);
        out.command += (count > 1 ? "\n" : "") + moments_command(ui, request, file);
    }
    if (count == 0)
        return {"", "Nothing that a command can read is watched: pin a cell or a head."};
    return out;
}

void WatchedPanel::inspector(Ui& ui) {
    if (!is_front()) return;
    std::vector<ProbeRequest> requests;
    for (const WatchedSeries& one : series_) requests.push_back(one.request);
    section(ui, "Watched##watched", {}, ui.workspace == Workspace::train);
    copy_command_button(ui, watched_command(ui, requests),
                        "Copies the commands that write the watched numbers, one for each curve.");
    hint(ui, "What an experiment costs: Copy as command in the Lab, at each step.");
}

bool has_heads(const std::vector<WatchedGroup>& groups) {
    return std::any_of(groups.begin(), groups.end(),
                       [](const WatchedGroup& group) { return group.lines.front().is_of_head; });
}

void WatchedPanel::draw(Ui& ui) {
    if (no_model_state(ui, Drawing::curve, "Its pins are watched here at every stored step."))
        return;
    const std::vector<Pin> pins = newest_pins(ui);
    std::vector<WatchedGroup> groups = {cells_of(ui, pins), heads_of(ui, pins, size_t(number_)),
                                        attention_of(ui, pins), loss_of(ui)};
    std::erase_if(groups, [](const WatchedGroup& group) { return group.lines.empty(); });
    if (is_empty(ui, groups)) return;
    if (ui.history.size() < 2) groups.clear();
    update(ui, groups);
    // Where training stores steps faster than pins are measured, every other second is theirs.
    experiments_.update(ui, /*may_ask=*/missing_ == 0 || std::fmod(ui.time, 2.0) >= 1);
    if (missing_ > 0 || experiments_.is_measuring()) {
        (void)progress_line(ui, "Reading the stored steps", -1);
        ImGui::Dummy({1, ui.px(4)});
    }
    if (pins.empty()) hint(ui, "P pins what is selected; its values are drawn here, too.");
    if (ui.experiments.is_empty())
        hint(ui,
             "Watch over training, in the Lab and in Complete, adds what an intervention costs "
             "and how the model completes at every saved step.");
    if (has_heads(groups)) {
        inline_label(ui, "Of the pinned heads");
        (void)formation_choice(ui, number_);
    }
    const auto n = std::max(1.0F, float(groups.size()));
    const float tall = std::clamp(ImGui::GetContentRegionAvail().y / n - ui.px(12),
                                  ui.px(kLeastPlot), ui.px(kMostPlot));
    if (ImGui::BeginChild("plots", {0, 0}, ImGuiChildFlags_NavFlattened)) {
        for (const WatchedGroup& group : groups) {
            draw_plot(ui, group, tall);
            ImGui::Dummy({1, ui.px(8)});
        }
        experiments_.draw(ui);
    }
    ImGui::EndChild();
}

}  // namespace

PanelRoom watched_panel() {
    return {.info = {"Watched", "pins and standing experiments, measured at every stored step"},
            .id = "watched",
            .icon = icon::pin,
            .help =
                "Every pin is watched: the value of its cell in the quantity that the maps show, "
                "the RMS of w, entropy, largest share or distance of its head, and what its target "
                "gives to its source in the chosen "
                "picture; below, the loss of that picture. Attention and loss need whole weights: "
                "they have a point for every saved checkpoint, biases for every stored step. A "
                "click shows the step everywhere. Standing experiments come from Watch over "
                "training: a recipe of the Lab, whose price on the pinned batch is measured with "
                "the weights of every saved step, and a completion, drawn at each of them under "
                "the same random numbers.",
            .places = {{Workspace::train, Slot::canvas, 3}, {Workspace::biases, Slot::canvas, 6}},
            .make = make_panel<WatchedPanel>};
}

}  // namespace aft::app

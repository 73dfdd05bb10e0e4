// Curves: loss, gradient norm, bias norm per layer, speed, learning rate.
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "app/panels/panel.h"
#include "app/panels/shared/layer_words.h"
#include "app/panels/shared/norm_words.h"
#include "app/panels/train/curves_inspector.h"
#include "app/panels/train/overlay_curves.h"
#include "app/panels/train/overlay_list.h"
#include "app/panels/train/plot_card.h"
#include "app/panels/train/plot_series.h"
#include "app/panels/train/plot_states.h"
#include "app/state/open_path.h"
#include "app/state/standing_events.h"
#include "app/widgets/buttons.h"
#include "app/widgets/fields.h"
#include "app/widgets/text.h"
#include "core/text.h"

namespace aft::app {
namespace {

constexpr size_t kNoteLetters = 24;  // of a note beside its line
constexpr float kTight = 900;        // pixels of a pane whose tools have no words
constexpr float kFourAcross = 900;   // pixels of a pane whose small plots stand in one row

class PlotsPanel final : public Panel {
  public:
    void draw(Ui& ui) override;
    void inspector(Ui& ui) override;
    void actions(Actions& actions) override;
    [[nodiscard]] std::vector<std::string> figures() const override { return {"training-curves"}; }

  private:
    using Plot = NamedPlot;
    enum PlotPlace { loss, gradient, bias, speed, rate, count };

    void draw_tools(PaneContext& ui);
    [[nodiscard]] std::vector<PlotPlace> small_plots() const;
    void draw_small(PaneContext& ui, float height);
    void draw_plot(PaneContext& ui, PlotPlace place, ImVec2 size);
    [[nodiscard]] Plot loss_plot(PaneContext& ui);
    [[nodiscard]] Plot gradient_plot(PaneContext& ui);
    [[nodiscard]] Plot bias_plot(PaneContext& ui);
    [[nodiscard]] Plot speed_plot(PaneContext& ui);
    [[nodiscard]] Plot rate_plot(PaneContext& ui);

    PlotSeries columns_;
    StandingEvents standing_;
    struct Axes {
        double smoothing = 0.9;
        int x_scale = 0, y_scale = 0;
    } axes_;
    float tools_width_ = 480;  // pixels, as drawn last
    std::vector<Plot> plots_;  // of this frame, by PlotPlace
    viz::AxisZoom x_zoom_, y_zooms_[count];
    std::map<std::string, viz::CurveCache> caches_;  // by the plot's id
    struct HoverLine {
        std::optional<double> now, next;  // in steps: of this frame, of the one that comes
    } marker_;
    OverlayRuns overlays_;
    OverlayList list_;
};

void PlotsPanel::draw_tools(PaneContext& ui) {
    ui.recorder.set_section("Scale##scale");
    static const std::vector<Choice> kScales = {{"Linear##linear"}, {"Log##log"}};
    const float available = ImGui::GetContentRegionAvail().x;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float left = at.x + std::max(ui.px(120), available - tools_width_);
    ImGui::SetCursorScreenPos({left, at.y});
    list_.draw(ui, overlays_, available < ui.px(kTight));
    const float smooth = ImGui::GetItemRectMax().x + ui.px(14);
    text_at(ui, {smooth, at.y + ui.px(5)}, "Smooth", {text_size::label, ui.theme.text2});
    ImGui::SetCursorScreenPos({smooth + ui.px(58), at.y});
    NumberField field{.name = "Smooth##smooth", .min = 0, .max = 0.99, .standard = 0.9};
    field.decimals = 2;
    field.width = 150;
    field.tip = "Weight of the average before the newest value; 0 shows the raw line alone.";
    field.formula = "m[i] = s m[i\u22121] + (1 \u2212 s) y[i]";
    slider(ui, field, axes_.smoothing);
    const auto axis = [&](const char* word, const WidgetName& name, int& scale) {
        ImGui::SameLine(0, ui.px(14));
        const ImVec2 here = ImGui::GetCursorScreenPos();
        text_at(ui, {here.x, here.y + ui.px(5)}, word, {text_size::label, ui.theme.text2});
        ImGui::SetCursorScreenPos({here.x + ui.px(14), here.y});
        segmented(
            ui, name, scale,
            {.list = kScales, .tip = "Log keeps small values apart and equal factors equal."});
    };
    axis("x", "x axis##x_axis", axes_.x_scale);
    axis("y", "y axis##y_axis", axes_.y_scale);
    tools_width_ = ImGui::GetItemRectMax().x - left;
}

void PlotsPanel::draw_plot(PaneContext& ui, PlotPlace place, ImVec2 size) {
    viz::CurvePlot& plot = plots_[place].view;
    plot.size = size;
    plot.marker = marker_.now;
    plot.log_x = axes_.x_scale == 1;
    plot.cuts_peaks = true;
    plot.zoom = {&x_zoom_, &y_zooms_[place]};
    std::vector<NumberView> steps = {ui.curves->step};
    for (const OverlayRun& run : overlays_.all())
        if (run.model) steps.emplace_back(run.model->curves.step);
    plot.card = [this, steps](double x) { return card_at(plots_, steps, x); };
    plot.cache = &caches_[plot.id];
    if (ui.selection.step >= 0) plot.now = static_cast<double>(ui.selection.step);
    const ImVec2 a = ImGui::GetCursorScreenPos();
    ImGui::BeginGroup();  // its lines begin at `a`, not at the pane's edge
    const viz::CurveReply reply = viz::draw_curves(plot, ui);
    if (reply.has_more) ui.want_frames(2);
    ImGui::EndGroup();
    ImGui::SetCursorScreenPos(a);  // names stand right of the axes: the plot takes its whole size
    ImGui::Dummy(plot.size);
    const ImVec2 b = {a.x + plot.size.x, a.y + plot.size.y};
    if (reply.reset)
        for (viz::AxisZoom& zoom : y_zooms_) zoom = {};
    ui.recorder.area({.kind = "plot",
                      .path = ui.recorder.claim({plot.title, plot.id}),
                      .min = a,
                      .max = b,
                      .value = plot.curves.empty() ? ""
                                                   : fmt::format("{} points, y {:.4g} to {:.4g}",
                                                                 plot.curves[0].y.size(),
                                                                 reply.y_low, reply.y_high),
                      .why_not = {}});
    if (!reply.hovered) return;
    marker_.next = reply.hovered;
    if (ImGui::IsMouseClicked(ImGuiMouseButton_Right))
        list_.open_menu(std::llround(std::clamp(*reply.hovered, 0.0, double(ui.status.step))));
    ui.recorder.area({.kind = "value",
                      .path = ui.recorder.claim("Card##card"),
                      .min = a,
                      .max = b,
                      .value = card_words(card_at(plots_, steps, *reply.hovered)),
                      .why_not = {}});
}

PlotsPanel::Plot PlotsPanel::loss_plot(PaneContext& ui) {
    Plot out{.view = {.id = "loss", .title = "Loss"}};
    viz::CurvePlot& plot = out.view;
    plot.unit = columns_.in_bits ? ui.status.metric_words : "nats";
    plot.log_y = axes_.y_scale == 1;
    out.names = {"train"};
    plot.curves.push_back({.label = "train",
                           .x = ui.curves->step,
                           .y = columns_.train,
                           .color = run_color(ui, ui.status.path),
                           .smoothing = axes_.smoothing});
    if (!columns_.validation.empty()) {
        out.names.emplace_back("validation");
        plot.curves.push_back({.label = "validation",
                               .x = columns_.validation_step,
                               .y = columns_.validation,
                               .color = ui.theme.series[3],
                               .dots = true});
    }
    overlay_loss(ui, overlays_.all(), axes_.smoothing, out);
    for (const Event& event : standing_.of(ui.curves)) {
        if (event.kind == "save") continue;
        const bool is_error = event.kind == "error";
        plot.events.push_back({.x = static_cast<double>(event.step),
                               .text = is_error ? "" : event_words(event.text),
                               .color = is_error                 ? ui.theme.error
                                        : event.kind == "undone" ? ui.theme.text3
                                                                 : ui.theme.series[1]});
    }
    for (const auto& [step, note] : ui.step_notes)
        plot.events.push_back(
            {.x = double(step), .text = short_words(note, kNoteLetters), .color = ui.theme.text2});
    std::stable_sort(plot.events.begin(), plot.events.end(),
                     [](const auto& a, const auto& b) { return a.x < b.x; });
    return out;
}

PlotsPanel::Plot PlotsPanel::gradient_plot(PaneContext& ui) {
    Plot out{.view = {.id = "gradient_norm", .title = "Gradient norm"}};
    viz::CurvePlot& plot = out.view;
    const std::string prefix = "grad_norm.group.";
    const auto& all = ui.curves->columns;
    const auto add = [&](std::string name, const NumberColumn& values, ImU32 color) {
        out.names.push_back(name);
        plot.curves.push_back({.label = std::move(name),
                               .x = ui.curves->step,
                               .y = values,
                               .color = color,
                               .width = 1.5f,
                               .decimals = 2});
    };
    // Beside other runs what they have in common: the norm of all parameters together.
    const bool is_alone = overlays_.all().empty();
    for (const auto& [key, values] : all) {
        if (!is_alone || !key.starts_with(prefix)) continue;
        std::string name = key.substr(prefix.size());
        std::replace(name.begin(), name.end(), '_', ' ');
        add(std::move(name), values, ui.theme.series[(plot.curves.size() + 1) % 8]);
    }
    if (plot.curves.empty() && all.contains("grad_norm"))
        add("all", all.at("grad_norm"),
            is_alone ? ui.theme.series[0] : run_color(ui, ui.status.path));
    overlay_column(overlays_.all(), "grad_norm", " all", out);
    return out;
}

// The layers in their order; where too little height is for all names, some are left out.
PlotsPanel::Plot PlotsPanel::bias_plot(PaneContext& ui) {
    Plot out{.view = {.id = "bias_norm", .title = "Bias norm per layer"}};
    viz::CurvePlot& plot = out.view;
    const bool has_kernel = ui.status.mixer.has_kernel();
    plot.unit = norm_of_training(has_kernel);
    const auto& all = ui.curves->columns;
    std::vector<std::pair<size_t, const NumberColumn*>> layers;
    for (size_t i = 0; i < ui.status.layers.size(); ++i) {
        const auto found = all.find(fmt::format("bias_norm.layer.{}", i));
        if (found != all.end()) layers.emplace_back(i, &found->second);
    }
    for (const auto& [layer, values] : layers) {
        const size_t index = plot.curves.size(), last = layers.size() - 1;
        const double share =
            last > 0 ? static_cast<double>(index) / static_cast<double>(last) : 0.5;
        out.names.push_back("layer " + layer_words(ui.status, static_cast<int64_t>(layer)));
        plot.curves.push_back(
            {.label = fmt::format("layer {}", layer),
             .x = ui.curves->step,
             .y = *values,
             .color = viz::ordered_color(share, ui.theme.name == ThemeName::light),
             .width = 1.5f,
             .decimals = 2});
    }
    // Of other runs the selected layer alone: all of all would be no picture.
    const int64_t layer = std::max<int64_t>(0, ui.selection.cell.layer);
    overlay_column(overlays_.all(), fmt::format("bias_norm.layer.{}", layer),
                   fmt::format(" layer {}", layer), out);
    return out;
}

// In place of a name at the line's end, which would take half of a small plot.
std::string last_words(const NumberColumn& values) {
    for (size_t i = values.size(); i-- > 0;)
        if (std::isfinite(values[i])) return "last " + significant(values[i], 3);
    return "";
}

PlotsPanel::Plot PlotsPanel::speed_plot(PaneContext& ui) {
    Plot out{.view = {.id = "speed", .title = "Speed", .unit = "it/s"}};
    if (columns_.speed.empty()) return out;
    out.names = {"one step"};
    if (const std::string last = last_words(columns_.speed); !last.empty())
        out.view.unit += ", " + last;
    out.view.curves.push_back(
        {.label = "",
         .x = ui.curves->step,
         .y = columns_.speed,
         .color = overlays_.all().empty() ? ui.theme.series[0] : run_color(ui, ui.status.path),
         .smoothing = 0.8,
         .decimals = 1});
    overlay_speed(overlays_.all(), out);
    return out;
}

PlotsPanel::Plot PlotsPanel::rate_plot(PaneContext& ui) {
    Plot out{.view = {.id = "rate", .title = "Learning rate"}};
    const auto lr = ui.curves->columns.find("lr");
    if (lr == ui.curves->columns.end()) return out;
    out.names = {"rate"};
    out.view.unit = last_words(lr->second);
    out.view.curves.push_back({.label = "",
                               .x = ui.curves->step,
                               .y = lr->second,
                               .color = ui.theme.text2,
                               .width = 1.5f,
                               .decimals = 5});
    overlay_column(overlays_.all(), "lr", "", out);
    return out;
}

// What the run has logged; the first two carry names at their lines' ends.
std::vector<PlotsPanel::PlotPlace> PlotsPanel::small_plots() const {
    std::vector<PlotPlace> out;
    for (const PlotPlace place : {gradient, bias, speed, rate})
        if (!plots_[place].view.curves.empty()) out.push_back(place);
    return out;
}

void PlotsPanel::draw_small(PaneContext& ui, float height) {
    const std::vector<PlotPlace> places = small_plots();
    const float gap = ui.px(12), available = ImGui::GetContentRegionAvail().x;
    const size_t across = std::min<size_t>(available > ui.px(kFourAcross) ? 4 : 2, places.size());
    const bool is_one_row = across == places.size();
    const float tall = std::floor(is_one_row ? height : (height - ui.px(8)) / 2);
    const float free = available - gap * static_cast<float>(across - 1);
    const auto share = [&](PlotPlace place) { return is_one_row && place > bias ? 2.0F : 3.0F; };
    float all = 0;
    for (size_t i = 0; i < across; ++i) all += share(places[i]);
    for (size_t i = 0; i < places.size(); ++i) {
        if (i % across != 0)
            ImGui::SameLine(0, gap);
        else if (i > 0)
            ImGui::Dummy({1, ui.px(2)});
        draw_plot(ui, places[i], {std::floor(free * share(places[i]) / all), tall});
    }
}

void PlotsPanel::draw(Ui& ui) {
    if (draw_no_curves(ui, standing_)) return;
    if (columns_.refresh(*ui.curves, ui.status.task.loss_in_bits)) ui.want_frames(2);
    overlays_.update(ui);
    marker_.now = std::exchange(marker_.next, std::nullopt);
    if (const std::string words = overlays_.left_out(ui); !words.empty()) {
        hint(ui, words);
        ui.recorder.item("hint", ui.recorder.claim("Left out##left_out"), words);
    }
    const ImVec2 at = ImGui::GetCursorPos();
    draw_tools(ui);
    ImGui::SetCursorPos(at);
    ui.recorder.set_section("Plots##plots");
    const ImVec2 available = ImGui::GetContentRegionAvail();
    // Where the window is low the pane scrolls: a plot of two rows of pixels says nothing.
    const bool is_wide = available.x > ui.px(kFourAcross);
    const float small = std::max(ui.px(is_wide ? 150 : 300), std::floor(available.y * 0.38f));
    const float spacing = 2 * ImGui::GetStyle().ItemSpacing.y + ui.px(8);
    plots_ = {loss_plot(ui), gradient_plot(ui), bias_plot(ui), speed_plot(ui), rate_plot(ui)};
    const bool has_small = !small_plots().empty();
    const float below = has_small ? small + spacing : ui.px(2);
    draw_plot(ui, loss, {available.x, std::max(ui.px(190), available.y - below)});
    if (has_small) draw_small(ui, small);
    list_.draw_menu(ui);
    if (marker_.now != marker_.next) ui.want_frames(2);
}

void PlotsPanel::inspector(Ui& ui) {
    if (ui.curves->step.empty()) return;
    if (columns_.refresh(*ui.curves, ui.status.task.loss_in_bits)) ui.want_frames(2);
    curves_inspector(ui, columns_);
}

void PlotsPanel::actions(Actions& actions) {
    actions.add(
        {.id = "train.overlay_runs",
         .name = "Overlay runs...",
         .sentence = "Chooses other runs whose curves are drawn with those of the open one.",
         .icon = icon::compare,
         .why_not =
             [](const ModelView& ui) {
                 return std::string(!ui.has_model()              ? "No run is open."
                                    : ui.curves->step.size() < 2 ? "This run has no curves yet."
                                                                 : "");
             },
         .run =
             [this](PaneContext& ui) {
                 ui.commands.send(ShowWorkspace{Workspace::train});
                 ui.commands.send(ShowPane{"curves"});
                 list_.open();
             }});
    actions.add({.id = "train.remove_overlays",
                 .name = "Remove overlaid runs",
                 .sentence = "Draws the open run alone.",
                 .icon = icon::close,
                 .why_not =
                     [](const ViewState& ui) {
                         return std::string(ui.overlays.empty() ? "No run is overlaid." : "");
                     },
                 .run = [](ViewState& ui) { ui.overlays.clear(); }});
}

}  // namespace

PanelRoom plots_panel() {
    return {
        {"Curves", "Loss, gradient norms, bias norms, speed and learning rate over steps."},
        "curves",
        icon::chart,
        "The thin line is the raw loss, the thick one its average; dots are validation. Wheel "
        "zooms, drag pans, double click shows everything; all plots share their steps; "
        "the pointer reads all plots at one logged step, each value as it was recorded. Overlay "
        "runs draws the curves of other runs too, the norm of all their gradients and, of their "
        "biases, of the selected layer; the right "
        "button on a plot overlays runs, exports metrics, or writes a note at that step.",
        {{Workspace::train, Slot::canvas, 0}},
        make_panel<PlotsPanel>};
}

}  // namespace aft::app

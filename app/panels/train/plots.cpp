// Curves: loss, gradient norm, bias norm per layer, speed, learning rate.
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "app/panels/panel.h"
#include "app/panels/shared/layer_words.h"
#include "app/panels/shared/norm_words.h"
#include "app/panels/train/curves_inspector.h"
#include "app/panels/train/plot_card.h"
#include "app/panels/train/plot_series.h"
#include "app/state/open_path.h"
#include "app/state/standing_events.h"
#include "app/widgets/buttons.h"
#include "app/widgets/fields.h"
#include "app/widgets/states.h"
#include "app/widgets/text.h"
#include "core/text.h"

namespace aft::app {
namespace {

// "train.learning_rate = 1e-3" -> "learning rate 1e-3"
std::string event_words(std::string text) {
    text = text.substr(text.starts_with("train.") ? 6 : 0);
    const size_t equals = text.find(" = ");
    if (equals != std::string::npos) text.replace(equals, 3, " ");
    std::replace(text.begin(), text.end(), '_', ' ');
    return text;
}

class PlotsPanel final : public Panel {
  public:
    void draw(Ui& ui) override;
    void inspector(Ui& ui) override;

  private:
    using Plot = NamedPlot;
    enum PlotPlace { loss, gradient, bias, speed, rate, count };

    void draw_tools(DrawContext& ui);
    [[nodiscard]] std::vector<PlotPlace> small_plots() const;
    void draw_small(PaneContext& ui, float height);
    void draw_plot(PaneContext& ui, PlotPlace place, ImVec2 size);
    [[nodiscard]] Plot loss_plot(PaneContext& ui);
    [[nodiscard]] static Plot gradient_plot(PaneContext& ui);
    [[nodiscard]] static Plot bias_plot(PaneContext& ui);
    [[nodiscard]] Plot speed_plot(PaneContext& ui);
    [[nodiscard]] static Plot rate_plot(PaneContext& ui);

    PlotSeries columns_;
    struct Axes {
        double smoothing = 0.9;
        int x_scale = 0, y_scale = 0;
    } axes_;
    float tools_width_ = 480;  // pixels, as drawn last
    std::vector<Plot> plots_;  // of this frame, by PlotPlace
    viz::AxisZoom x_zoom_, y_zooms_[count];
    std::map<std::string, viz::CurveCache> caches_;  // by the plot's id
    std::optional<double> marker_, next_marker_;
};

void PlotsPanel::draw_tools(DrawContext& ui) {
    ui.recorder.set_section("Scale##scale");
    static const std::vector<Choice> kScales = {{"Linear##linear"}, {"Log##log"}};
    const float available = ImGui::GetContentRegionAvail().x;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float left = at.x + std::max(ui.px(120), available - tools_width_);
    text_at(ui, {left, at.y + ui.px(5)}, "Smooth", {text_size::label, ui.theme.text2});
    ImGui::SetCursorScreenPos({left + ui.px(58), at.y});
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
    plot.marker = marker_;
    plot.log_x = axes_.x_scale == 1;
    plot.cuts_peaks = true;
    plot.zoom = {&x_zoom_, &y_zooms_[place]};
    plot.card = [this, &ui](double x) { return card_at(plots_, ui.curves->step, x); };
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
    next_marker_ = reply.hovered;
    ui.recorder.area({.kind = "value",
                      .path = ui.recorder.claim("Card##card"),
                      .min = a,
                      .max = b,
                      .value = card_words(card_at(plots_, ui.curves->step, *reply.hovered)),
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
    for (const Event& event : standing_events(ui.curves->events)) {
        if (event.kind == "save") continue;
        const bool is_error = event.kind == "error";
        plot.events.push_back({.x = static_cast<double>(event.step),
                               .text = is_error ? "" : event_words(event.text),
                               .color = is_error                 ? ui.theme.error
                                        : event.kind == "undone" ? ui.theme.text3
                                                                 : ui.theme.series[1]});
    }
    return out;
}

PlotsPanel::Plot PlotsPanel::gradient_plot(PaneContext& ui) {
    Plot out{.view = {.id = "gradient_norm", .title = "Gradient norm"}};
    viz::CurvePlot& plot = out.view;
    const std::string prefix = "grad_norm.group.";
    const auto& all = ui.curves->columns;
    const auto add = [&](std::string name, const NumberColumn& values, size_t color) {
        out.names.push_back(name);
        plot.curves.push_back({.label = std::move(name),
                               .x = ui.curves->step,
                               .y = values,
                               .color = ui.theme.series[color % 8],
                               .width = 1.5f,
                               .decimals = 2});
    };
    for (const auto& [key, values] : all) {
        if (!key.starts_with(prefix)) continue;
        std::string name = key.substr(prefix.size());
        std::replace(name.begin(), name.end(), '_', ' ');
        add(std::move(name), values, plot.curves.size() + 1);
    }
    if (plot.curves.empty() && all.contains("grad_norm")) add("all", all.at("grad_norm"), 0);
    return out;
}

// The layers in their order, the first and the last with their names.
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
        const std::string number = fmt::format("layer {}", layer);
        out.names.push_back("layer " + layer_words(ui.status, static_cast<int64_t>(layer)));
        plot.curves.push_back(
            {.label = index == 0 || index == last ? number : "",
             .x = ui.curves->step,
             .y = *values,
             .color = viz::ordered_color(share, ui.theme.name == ThemeName::light),
             .width = 1.5f,
             .decimals = 2});
    }
    return out;
}

PlotsPanel::Plot PlotsPanel::speed_plot(PaneContext& ui) {
    Plot out{.view = {.id = "speed", .title = "Speed", .unit = "it/s"}};
    if (columns_.speed.empty()) return out;
    out.names = {"one step"};
    out.view.curves.push_back({.label = "",
                               .x = ui.curves->step,
                               .y = columns_.speed,
                               .color = ui.theme.series[0],
                               .smoothing = 0.8,
                               .decimals = 1});
    return out;
}

PlotsPanel::Plot PlotsPanel::rate_plot(PaneContext& ui) {
    Plot out{.view = {.id = "rate", .title = "Learning rate"}};
    const auto lr = ui.curves->columns.find("lr");
    if (lr == ui.curves->columns.end()) return out;
    out.names = {"rate"};
    out.view.curves.push_back({.label = "",
                               .x = ui.curves->step,
                               .y = lr->second,
                               .color = ui.theme.text2,
                               .width = 1.5f,
                               .decimals = 5});
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
    const size_t across = std::min<size_t>(available > ui.px(760) ? 4 : 2, places.size());
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

// After which changes, and what is safe.
std::string error_sentence(const ModelView& ui) {
    const Status& s = ui.status;
    if (s.can_resume && s.step > std::max<int64_t>(s.saved_step, 0))
        return fmt::format(
            "What was learnt up to step {} is in memory only: save it, or resume "
            "when the cause is gone.",
            group_thousands(s.step));
    if (s.can_resume) return "Nothing is lost: resume when the cause is gone.";
    int64_t step = -1;
    std::string changes;
    for (const Event& event : standing_events(ui.curves->events)) {
        if (event.kind != "learning-rate" && event.kind != "setting") continue;
        changes = (event.step == step ? changes + " and " : "") + event_words(event.text);
        step = event.step;
    }
    std::string words;
    if (step >= 0)
        words = fmt::format("It follows {}, set at step {}. ", changes, group_thousands(step));
    if (s.saved_step < 0) return words + "Nothing is saved yet.";
    return words + fmt::format("Step {} is saved and safe.", group_thousands(s.saved_step));
}

// The filled button stands above, in the pane Run: none here.
void draw_no_curves(Ui& ui) {
    const Status& s = ui.status;
    if (!s.task.is_trainable()) {
        empty_state(ui, {.drawing = Drawing::curve,
                         .title = "Nothing to train",
                         .sentence = s.task.no_training + "."});
        return;
    }
    const bool is_fresh = s.step == 0;
    std::string sentence = "The curves begin with the second step.";
    if (!is_fresh && ui.curves->step.size() == 1)
        sentence = fmt::format("Step {} alone is logged so far; the curves begin with the next.",
                               group_thousands(int64_t(ui.curves->step[0])));
    else if (!is_fresh)
        sentence = fmt::format("{} steps are trained{}", group_thousands(s.step),
                               s.can_train ? ", but this checkpoint carries no curves; they begin "
                                             "with the next step."
                                           : "; this checkpoint carries no curves.");
    empty_state(ui, {.drawing = Drawing::curve,
                     .title = is_fresh ? "Nothing trained yet" : "No curves yet",
                     .sentence = sentence,
                     .hint = s.can_train ? "Space starts and pauses, . trains one step." : ""});
}

void PlotsPanel::draw(Ui& ui) {
    if (!ui.has_model()) {
        empty_state(
            ui, {.drawing = Drawing::curve,
                 .title = "No run is open",
                 .sentence =
                     "Start a run to watch its loss, gradients and biases move while it learns.",
                 .primary = "file.new_run",
                 .secondary = "file.open_demo",
                 .hint = "Space starts and pauses, . trains one step.",
                 .secondary_words = "Try the demo"});
        return;
    }
    if (!ui.status.error.empty())
        banner(ui, {.kind = ToastKind::error,
                    .title = std::string(ui.status.state == RunState::error ? "Training stopped: "
                                                                            : "Training paused: ") +
                             ui.status.error,
                    .sentence = error_sentence(ui),
                    .actions = {ui.status.can_resume ? "run.save" : "run.retry_step", "view.log",
                                "run.copy_error"}});
    if (ui.curves->step.size() < 2) {
        draw_no_curves(ui);
        return;
    }
    if (columns_.refresh(*ui.curves, ui.status.task.loss_in_bits)) ui.want_frames(2);
    marker_ = std::exchange(next_marker_, std::nullopt);
    const ImVec2 at = ImGui::GetCursorPos();
    draw_tools(ui);
    ImGui::SetCursorPos(at);
    ui.recorder.set_section("Plots##plots");
    const ImVec2 available = ImGui::GetContentRegionAvail();
    // Where the window is low the pane scrolls: a plot of two rows of pixels says nothing.
    const bool is_wide = available.x > ui.px(760);
    const float small = std::max(ui.px(is_wide ? 150 : 300), std::floor(available.y * 0.38f));
    const float spacing = 2 * ImGui::GetStyle().ItemSpacing.y + ui.px(8);
    plots_ = {loss_plot(ui), gradient_plot(ui), bias_plot(ui), speed_plot(ui), rate_plot(ui)};
    const bool has_small = !small_plots().empty();
    const float below = has_small ? small + spacing : ui.px(2);
    draw_plot(ui, loss, {available.x, std::max(ui.px(190), available.y - below)});
    if (has_small) draw_small(ui, small);
    if (marker_ != next_marker_) ui.want_frames(2);
}

void PlotsPanel::inspector(Ui& ui) {
    if (ui.curves->step.empty()) return;
    if (columns_.refresh(*ui.curves, ui.status.task.loss_in_bits)) ui.want_frames(2);
    curves_inspector(ui, columns_);
}

}  // namespace

PanelRoom plots_panel() {
    return {{"Curves", "Loss, gradient norms, bias norms, speed and learning rate over steps."},
            "curves",
            icon::chart,
            "The thin line is the raw loss, the thick one its average; dots are validation. Wheel "
            "zooms, drag pans, double click shows everything; all plots share their steps; "
            "the pointer reads all plots at one logged step, each value as it was recorded.",
            {{Workspace::train, Slot::canvas, 0}},
            make_panel<PlotsPanel>};
}

}  // namespace aft::app

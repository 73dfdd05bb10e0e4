// Sampling: how completions are drawn, from which step of the model, and what they cost.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>

#include "app/panels/complete/completion_command.h"
#include "app/panels/complete/completion_state.h"
#include "app/panels/complete/original_bits.h"
#include "app/panels/complete/sample_overlay.h"
#include "app/panels/panel.h"
#include "app/panels/shared/bias_values.h"
#include "app/panels/shared/overlay_image.h"
#include "app/panels/shared/whole_step.h"
#include "app/widgets/buttons.h"
#include "app/widgets/combo.h"
#include "app/widgets/fields.h"
#include "app/widgets/text.h"
#include "core/text.h"
#include "viz/color_bar.h"

namespace aft::app {

PanelRoom sampling_panel();

namespace {

class SamplingPanel : public Panel {
  public:
    void draw(Ui& ui) override;

  private:
    void draw_options(PaneContext& ui);
    void draw_seed(Ui& ui);
    void draw_model_step(PaneContext& ui);
    void draw_numbers(PaneContext& ui, const std::shared_ptr<const Completion>& of);
    [[nodiscard]] double spread_of(const std::shared_ptr<const Completion>& completion);
    void draw_uncertainty(PaneContext& ui, const Completion& completion);
    OriginalBits original_;
    viz::TokenTexture texture_;
    std::weak_ptr<const Completion> spread_of_;  // whose spread_ that is
    double spread_ = 0;
};

void SamplingPanel::draw_options(PaneContext& ui) {
    SampleOptions& sample = ui.selection.completion.sample;
    const Choice counts[] = {{.text = "4"}, {.text = "8"}, {.text = "16"}, {.text = "32"}};
    const int64_t values[] = {4, 8, 16, 32};
    label_column(ui, "Samples", 104, "Completions at once, 1 to 1024.");
    int chosen = -1;
    for (int i = 0; i < 4; ++i)
        if (sample.samples == values[i]) chosen = i;
    const float available = ImGui::GetContentRegionAvail().x / ui.scale;
    if (segmented(ui, "Samples##samples", chosen,
                  {.list = counts,
                   .width = available - 64,
                   .tip = "Completions that are drawn at once."}))
        sample.samples = values[chosen];
    ImGui::SameLine(0, ui.px(8));
    (void)drag_field(ui,
                     {.name = "Number of samples##number_of_samples",
                      .min = 1,
                      .max = 1024,
                      .standard = 4,
                      .tip = "Completions that are drawn at once, 1 to 1024.",
                      .width = 56,
                      .drag_speed = 0.2F},
                     sample.samples);
    label_column(ui, "Temperature", 104, "0 always takes the most likely level.");
    (void)slider(
        ui,
        {.name = "Temperature##temperature",
         .min = 0,
         .max = 2,
         .standard = 1,
         .decimals = 2,
         .tip = "Below 1 likely levels become likelier; 0 always takes the most likely one.",
         .formula = "p[i] ~ exp(logit[i] / T)"},
        sample.temperature);
    label_column(ui, "Top-p", 104, "Only the most likely levels that make up this share. 1 = off.");
    (void)slider(ui,
                 {.name = "Top-p##top_p",
                  .min = 0.01,
                  .max = 1,
                  .standard = 1,
                  .decimals = 2,
                  .tip = "Only the most likely levels that make up this share. 1 = off."},
                 sample.top_p);
    label_column(ui, "Top-k", 104, "Only so many of the most likely levels. 0 = off.");
    (void)slider(ui,
                 {.name = "Top-k##top_k",
                  .min = 0,
                  .max = static_cast<double>(ui.status.config.model.levels),
                  .standard = 0,
                  .integer = true,
                  .at_min = "off",
                  .tip = "Only so many of the most likely levels. 0 = off."},
                 sample.top_k);
}

void SamplingPanel::draw_seed(Ui& ui) {
    CompletionChoice& choice = ui.selection.completion;
    label_column(ui, "Seed", 104, "The same seed gives the same completion again.");
    auto seed = static_cast<int64_t>(choice.sample.seed);
    const float available = ImGui::GetContentRegionAvail().x / ui.scale;
    if (drag_field(ui,
                   {.name = "Seed##seed",
                    .min = 0,
                    .max = 1e9,
                    .integer = true,
                    .tip = "The same seed gives the same completion again.",
                    .width = available - 68},
                   seed))
        choice.sample.seed = static_cast<uint64_t>(seed);
    ImGui::SameLine(0, ui.px(8));
    if (button(ui, {.name = "Lock seed##lock_seed",
                    .icon = choice.seed_locked ? icon::lock : icon::unlock,
                    .kind = ButtonKind::icon,
                    .tip = choice.seed_locked ? "Every run takes this seed."
                                              : "Every run takes a new seed.",
                    .selected = choice.seed_locked}))
        choice.seed_locked = !choice.seed_locked;
    ImGui::SameLine(0, ui.px(4));
    (void)action_button(ui, "complete.new_seed", ButtonKind::icon);
    label_column(ui, "Particles", 104,
                 "Candidates per sample, weighted by the known values that follow. 1 = plain.");
    (void)slider(
        ui,
        {.name = "Particles##particles",
         .min = 1,
         .max = 64,
         .standard = 1,
         .integer = true,
         .tip = "Candidates per sample, weighted by the known values that follow. 1 = plain."},
        choice.sample.particles);
}

void SamplingPanel::draw_model_step(PaneContext& ui) {
    std::vector<std::string> names = {
        fmt::format("live, step {}##live", group_thousands(ui.weights_step()))};
    // Newest first. Other moments keep their biases only, and cannot complete.
    std::vector<int64_t> steps = ui.session->saved_steps();
    std::reverse(steps.begin(), steps.end());
    int chosen = 0;
    const int64_t drawn = ui.selection.step < 0 ? -1 : whole_step(ui);
    for (const int64_t step : steps) {
        if (drawn == step) chosen = static_cast<int>(names.size());
        names.push_back(fmt::format("step {}##step_{}", group_thousands(step), step));
    }
    if (chosen == 0 && ui.selection.step >= 0)
        names[0] = fmt::format("step {}##step_{}", group_thousands(drawn), drawn);
    label_column(ui, "Model", 104, "The moment of training whose weights complete.");
    const std::string tip =
        drawn < 0 || drawn == ui.selection.step
            ? "The moment of training whose weights complete."
            : fmt::format("The saved step that is nearest to step {}: its weights complete.",
                          group_thousands(ui.selection.step));
    if (!combo(ui, "Model step##model_step", chosen, {.list = names, .tip = tip.c_str()})) return;
    ui.commands.send(ShowStep{chosen == 0 ? -1 : steps[static_cast<size_t>(chosen) - 1]});
}

// Mean over the filled positions of the standard deviation over samples, in levels.
double SamplingPanel::spread_of(const std::shared_ptr<const Completion>& completion) {
    if (spread_of_.lock() == completion) return spread_;
    double total = 0;
    int64_t count = 0;
    for (const float spread : sample_spread(*completion)) {
        if (std::isnan(spread)) continue;
        total += spread;
        ++count;
    }
    spread_of_ = completion;
    spread_ = count == 0 ? std::nan("") : total / static_cast<double>(count);
    return spread_;
}

void SamplingPanel::draw_numbers(PaneContext& ui, const std::shared_ptr<const Completion>& of) {
    const Completion& completion = *of;
    const char* unit = is_text_model(ui) ? "bits/byte" : "bits/dim";
    section(ui, is_text_model(ui) ? "This prompt##numbers" : "This picture##numbers");
    const auto show = [&](const WidgetName& key, double value, const char* words) {
        key_value(ui, key, std::isfinite(value) ? plain_number(value, 2) : "\u2013", words);
    };
    if (!is_text_model(ui)) {
        (void)original_.update(ui, completion);
        show("Original##original", original_.mean(), unit);
    }
    size_t best = 0;
    double sum = 0;
    for (size_t i = 0; i < completion.samples.size(); ++i) {
        const double bits = sample_bits(completion, i);
        sum += bits;
        if (bits < sample_bits(completion, best)) best = i;
    }
    show(fmt::format("Best sample ({})##best", best + 1), sample_bits(completion, best), unit);
    show(fmt::format("Mean of {}##mean", completion.samples.size()),
         sum / static_cast<double>(completion.samples.size()), unit);
    if (!is_text_model(ui)) show("Spread over samples##spread", spread_of(of), "levels");
    const size_t chosen = sample_looked_at(ui, completion);
    key_value(ui, fmt::format("Log-likelihood ({})##log_likelihood", chosen + 1),
              plain_number(completion.log_likelihood[chosen], 2), "nats");
}

// The picture gives way to the bar below it: its numbers stand in the pane where that can be.
float uncertainty_side(const PaneContext& ui, float bar) {
    constexpr float kMost = 256, kLeast = 128;
    const float below = bar + ImGui::GetStyle().ItemSpacing.y + ImGui::GetStyle().WindowPadding.y;
    const float left = ImGui::GetWindowHeight() - ImGui::GetCursorPosY() - below;
    return std::floor(
        std::min(ImGui::GetContentRegionAvail().x, std::clamp(left, ui.px(kLeast), ui.px(kMost))));
}

void SamplingPanel::draw_uncertainty(PaneContext& ui, const Completion& completion) {
    const ModelConfig& model = ui.status.config.model;
    if (is_text_model(ui) || static_cast<int64_t>(completion.unknown.size()) != ui.status.tokens)
        return;
    section(ui, "Uncertainty##uncertainty", "entropy per pixel, bit");
    const size_t sample = sample_looked_at(ui, completion);
    const bool running = completion.position < completion.total;
    const std::vector<float>& entropy = completion.entropy[sample];
    texture_.set(overlay_image({.tokens = completion.samples[sample],
                                .height = model.height,
                                .width = model.width,
                                .channels = model.channels,
                                .levels = model.levels,
                                .known = running ? completion.position : -1,
                                .unknown = completion.unknown},
                               entropy),
                 ui);
    const std::vector<float> means = pixel_means(entropy, model.channels);
    std::vector<float> seen;
    for (const float value : means)
        if (std::isfinite(value)) seen.push_back(value);
    viz::ColorBarView bar;
    bar.id = "entropy";
    bar.coloring = overlay_coloring(model.levels);
    const std::vector<float> bars = histogram(seen, bar.coloring.range, bar.coloring.scale, 32);
    bar.histogram = bars;
    bar.can_drag = false;
    const float side = uncertainty_side(ui, color_bar_height(bar, ui));
    viz::ImageView view;
    view.id = "uncertainty";
    view.height = model.height;
    view.width = model.width;
    view.area = {side, side};
    const int64_t position = position_looked_at(ui, completion);
    if (position >= 0) {
        const int64_t pixel = position / model.channels;
        view.target = {pixel / model.width, pixel % model.width};
    }
    const viz::ImageReply reply = draw_image(view, texture_, ui);
    if (reply.clicked.is_valid())
        look_at_pixel(ui.selection.completion, static_cast<int64_t>(sample),
                      reply.clicked.row * model.width + reply.clicked.column, model.channels);
    bar.width = reply.box.width();
    if (reply.hovered.is_valid()) {
        const float value =
            means[static_cast<size_t>(reply.hovered.row * model.width + reply.hovered.column)];
        if (std::isfinite(value)) bar.marker = value;
    }
    (void)draw_color_bar(bar, ui);
    ui.recorder.item("value", ui.recorder.claim("Entropy##entropy_range"),
                     range_numbers(bar.coloring.range));
}

void SamplingPanel::draw(Ui& ui) {
    if (ui.session == nullptr || !ui.has_model() || !ui.status.task.is_autoregressive) {
        hint(ui, "How completions are drawn: number, temperature, seed.");
        return;
    }
    ui.recorder.set_section("Options##options");
    draw_options(ui);
    draw_seed(ui);
    draw_model_step(ui);
    (void)action_button(ui, "complete.watch", ButtonKind::normal, "Watch over training");
    ImGui::SameLine(0, ui.px(8));
    completion_button(ui);
    const auto completion = completion_of(ui);
    if (!completion || completion->samples.empty()) return;
    draw_numbers(ui, completion);
    draw_uncertainty(ui, *completion);
}

}  // namespace

PanelRoom sampling_panel() {
    return {{"Sampling", "how completions are drawn, and what they cost"},
            "sampling",
            icon::tune,
            "Number of samples, temperature, top-k, top-p and seed; the step of the model; bits of "
            "the picture and its samples; where the model was unsure.",
            {{Workspace::complete, Slot::right, 0}},
            make_panel<SamplingPanel>};
}

}  // namespace aft::app

// Sampling: how the model draws, and what is known about this picture.
#include <algorithm>
#include <cmath>

#include "app/panels/complete_common.h"
#include "app/ui/icons.h"
#include "app/ui/panel.h"
#include "app/ui/parts.h"
#include "app/ui/widgets.h"
#include "core/rng.h"
#include "core/text.h"

namespace aft::app {
namespace {

constexpr int64_t kSamples[] = {1, 4, 8, 16};

class SamplingPanel final : public Panel {
  public:
    void draw(Ui& ui) override;
    void inspector(Ui& ui) override;

  private:
    void draw_seed(Ui& ui);
};

void SamplingPanel::draw(Ui& ui) {
    if (!can_complete(ui)) {
        hint(ui, "Open an image or text model to complete.");
        return;
    }
    SampleOptions& sample = ui.selection.completion.sample;
    const auto levels = static_cast<double>(shape_of(ui).levels);
    section(ui, "Sampling", {}, false);
    label_column(ui, "Samples", 104, "Completions side by side, each with its own random numbers");
    const Choice counts[] = {{"1"}, {"4"}, {"8"}, {"16"}};
    int count = 0;
    for (int i = 0; i < 4; ++i)
        if (kSamples[i] <= sample.samples) count = i;
    if (segmented(ui, "Samples", count, counts)) sample.samples = kSamples[count];
    label_column(ui, "Temperature", 104, "Logits are divided by it; 0 takes the most likely level");
    slider(ui, {.name = "Temperature", .min = 0, .max = 2, .standard = 1, .decimals = 2},
           sample.temperature);
    label_column(ui, "Top-p", 104,
                 "Only the likeliest levels that together reach this share; 1 = all");
    slider(ui, {.name = "Top-p", .min = 0.01, .max = 1, .standard = 1, .decimals = 2},
           sample.top_p);
    label_column(ui, "Top-k", 104, "Only the k likeliest levels; 0 = all");
    slider(ui, {.name = "Top-k", .min = 0, .max = levels, .standard = 0, .integer = true},
           sample.top_k);
    draw_seed(ui);
    label_column(ui, "Model", 104, "The step whose weights draw; move the timeline to change it");
    text(ui, "step " + group_thousands(ui.shown_step()) + (ui.selection.step < 0 ? " (live)" : ""),
         text_size::label, ui.theme.text1);
    inspector(ui);
}

void SamplingPanel::draw_seed(Ui& ui) {
    CompletionChoice& choice = ui.selection.completion;
    label_column(ui, "Seed", 104, "The same seed draws the same completions");
    auto seed = static_cast<int64_t>(choice.sample.seed);
    const float width = ImGui::GetContentRegionAvail().x / ui.theme.scale - 64;
    if (drag_field(ui, {.name = "Seed", .min = 0, .max = 1e9, .integer = true, .width = width},
                   seed))
        choice.sample.seed = static_cast<uint64_t>(seed);
    ImGui::SameLine(0, ui.px(4));
    if (button(ui, {.name = "Keep seed",
                    .icon = choice.seed_locked ? icon::lock : icon::unlock,
                    .kind = ButtonKind::icon,
                    .tip = "On: every run draws the same. Off: a new seed for every run.",
                    .selected = choice.seed_locked}))
        choice.seed_locked = !choice.seed_locked;
    ImGui::SameLine(0, ui.px(4));
    if (button(ui, {.name = "New seed", .icon = icon::dice, .kind = ButtonKind::icon}))
        choice.sample.seed = philox(choice.sample.seed, 1, 0)[0] % 100000;
}

// Bits per filled sub-pixel of the picture itself, from the model's predictions on it; NaN while
// they are computed.
double original_bits(Ui& ui, const std::vector<uint8_t>& unknown) {
    const auto tokens = picture(ui);
    if (tokens.size() != unknown.size()) return NAN;
    ProbeRequest request{.probe = "predictions",
                         .step = ui.selection.step,
                         .options = {},
                         .tokens = {tokens.begin(), tokens.end()}};
    const FieldSetPtr set = ui.session->ask(request);
    if (!set || set->fields.empty() || set->fields[0].shape.size() != 2) return NAN;
    const Field& rows = set->fields[0];
    const auto levels = static_cast<size_t>(rows.shape[1]);
    double nats = 0;
    int64_t count = 0;
    for (size_t t = 0; t < unknown.size() && t < static_cast<size_t>(rows.shape[0]); ++t)
        if (unknown[t]) nats -= rows.values[t * levels + tokens[t]], ++count;
    return count ? nats / std::log(2.0) / static_cast<double>(count) : NAN;
}

void SamplingPanel::inspector(Ui& ui) {
    const auto done = ui.session ? ui.session->completion() : nullptr;
    if (!can_complete(ui) || !done || done->samples.empty()) return;
    section(ui, is_text(ui) ? "This text" : "This picture");
    const auto words = [](double bits) {
        return std::isfinite(bits) ? plain_number(bits, 2) : std::string("...");
    };
    const char* unit = is_text(ui) ? "bits/byte" : "bits/dim";
    if (!is_text(ui)) key_value(ui, "Original", words(original_bits(ui, done->unknown)), unit);
    double best = INFINITY, sum = 0;
    size_t which = 0;
    for (size_t i = 0; i < done->samples.size(); ++i) {
        const double bits = bits_per_dim(*done, i);
        sum += bits;
        if (bits < best) best = bits, which = i;
    }
    key_value(ui, fmt::format("Likeliest sample ({})", which + 1), words(best), unit);
    key_value(ui, fmt::format("Mean of {}", done->samples.size()),
              words(sum / static_cast<double>(done->samples.size())), unit);
    key_value(ui, "Weights of step", group_thousands(done->step));
    key_value(ui, "Time", duration(done->seconds));
}

}  // namespace

PanelRoom complete_sampling_panel() {
    return {.info = {"Sampling", "How the model draws: samples, temperature, top-k, top-p, seed."},
            .icon = icon::tune,
            .help =
                "Temperature 0 is greedy. Top-k 0 and top-p 1 are off. The random numbers belong "
                "to seed, sample and "
                "position, so that a change of one setting can be compared.",
            .places = {{Workspace::complete, Slot::right, 0}},
            .make = [] { return std::unique_ptr<Panel>(std::make_unique<SamplingPanel>()); }};
}

}  // namespace aft::app

#include "app/panels/complete/sample_overlay.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "app/panels/complete/batch_run.h"
#include "app/panels/shared/completion_readings.h"
#include "app/panels/shared/overlay_image.h"
#include "app/widgets/buttons.h"
#include "app/widgets/text.h"
#include "core/text.h"
#include "viz/color_bar.h"

namespace aft::app {
namespace {

const char* unit_of(Overlay overlay, bool is_text) {
    return overlay != Overlay::spread ? "bit" : is_text ? "%" : "levels";
}

// From 0 to the largest one that is there, so that a narrow spread is seen too.
Coloring spread_coloring(const std::vector<float>& spread, int64_t channels) {
    double top = 0;
    for (const float value : pixel_means(spread, channels))
        if (std::isfinite(value)) top = std::max<double>(top, value);
    return {{0, top > 0 ? top : 1}, Scale::linear, Colormap::viridis};
}

}  // namespace

std::vector<float> sample_spread(const Completion& completion) {
    std::vector<float> spread(completion.unknown.size(), std::numeric_limits<float>::quiet_NaN());
    const auto n = static_cast<double>(completion.samples.size());
    const FilledPositions filled = filled_positions(completion);
    for (size_t at = 0; at < filled.decided && n > 0; ++at) {
        const auto i = static_cast<size_t>(filled.at[at]);
        double sum = 0, squares = 0;
        for (const auto& sample : completion.samples) {
            const double level = sample[i];
            sum += level;
            squares += level * level;
        }
        spread[i] = static_cast<float>(std::sqrt(std::max(0.0, squares / n - sum / n * sum / n)));
    }
    return spread;
}

std::vector<float> sample_disagreement(const Completion& completion) {
    std::vector<float> shares(completion.unknown.size(), std::numeric_limits<float>::quiet_NaN());
    const auto n = static_cast<float>(completion.samples.size());
    const FilledPositions filled = filled_positions(completion);
    for (size_t at = 0; at < filled.decided && n > 0; ++at) {
        const auto i = static_cast<size_t>(filled.at[at]);
        std::array<int, 256> counts{};
        int most = 0;
        for (const auto& sample : completion.samples) most = std::max(most, ++counts[sample[i]]);
        shares[i] = 100 * (n - static_cast<float>(most)) / n;
    }
    return shares;
}

static std::string why_no_original(const ViewState& ui) {
    if (is_text_model(ui)) return "A prompt has no original.";
    return is_batch_shown(ui) ? "Of one picture at a time." : "";
}

void draw_overlay_choice(PaneContext& ui) {
    const ImVec2 place = ImGui::GetCursorScreenPos();
    const float wide = std::min(kOverlayChoiceWidth, ImGui::GetContentRegionAvail().x / ui.px(1));
    text_at(ui, {place.x, place.y + ui.px(6)}, "Overlay", {text_size::label, ui.theme.text2});
    ImGui::SetCursorScreenPos({place.x + ui.px(62), place.y});
    const Choice choices[] = {
        {.text = "None##none", .tip = "The pictures as they are."},
        {.text = "Entropy##entropy",
         .tip = "How unsure the model was, bits.",
         .formula = "\u2212\u03A3 p log2 p"},
        {.text = "Bits##bits",
         .tip = "How surprising the drawn level was, bits.",
         .formula = "\u2212log2 p(drawn)"},
        {.text = "Spread##spread",
         .tip = is_text_model(ui)
                    ? "How many of the samples have another byte there than most of them, %."
                    : "How far the samples differ: the standard deviation of the level over all of "
                      "them; the same picture on every sample.",
         .formula = is_text_model(ui) ? "" : "\u221A(mean(x\u00B2) \u2212 mean(x)\u00B2)"},
        {.text = "Original##original",
         .why_not = why_no_original(ui),
         .tip = "How unlikely the picture as it was is to the model, bits; the same picture on "
                "every sample.",
         .formula = "\u2212log2 p(original)"}};
    int chosen = static_cast<int>(ui.selection.completion.overlay);
    if (segmented(ui, "Overlay##overlay", chosen, {choices, std::floor(wide - 62)}))
        ui.selection.completion.overlay = static_cast<Overlay>(chosen);
}

void SampleOverlay::update(const ViewState& ui, const std::shared_ptr<const Completion>& completion,
                           std::vector<float> original) {
    const ModelConfig& model = ui.status.config.model;
    overlay_ = ui.selection.completion.overlay;
    is_text_ = is_text_model(ui);
    channels_ = is_text_ ? 1 : std::max<int64_t>(1, model.channels);
    samples_ = completion->samples.size();
    coloring_ = overlay_coloring(model.levels);
    original_ = std::move(original);
    if (overlay_ == Overlay::original && original_.empty()) overlay_ = Overlay::none;
    if (overlay_ != Overlay::spread) return;
    if (of_.lock() != completion) {
        of_ = completion;
        spread_ = is_text_ ? sample_disagreement(*completion) : sample_spread(*completion);
        spread_coloring_ = spread_coloring(spread_, channels_);
    }
    coloring_ = spread_coloring_;
}

void SampleOverlay::draw_key(DrawContext& ui) const {
    if (overlay_ == Overlay::none) return;
    const std::string words =
        overlay_ == Overlay::spread
            ? fmt::format("Spread: {} {} sample{}, {}",
                          is_text_ ? "another byte than in most of" : "standard deviation over",
                          samples_, samples_ == 1 ? "" : "s", unit_of(overlay_, is_text_))
        : overlay_ == Overlay::original
            ? fmt::format("Surprise of the original level, {}", unit_of(overlay_, is_text_))
        : overlay_ == Overlay::bits
            ? fmt::format("Surprise of the drawn {}, {}", is_text_ ? "byte" : "level",
                          unit_of(overlay_, is_text_))
            : fmt::format("Entropy of the prediction, {}", unit_of(overlay_, is_text_));
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float bar = ui.px(104), gap = ui.px(16);
    const float most = std::max(ui.px(40), ImGui::GetContentRegionAvail().x - bar - gap);
    const float width = std::min(most, text_extent(ui, words, text_size::label).x);
    text_at(ui, {at.x, at.y + ui.px(3)}, words,
            {text_size::label, ui.theme.text2, Face::regular, most});
    viz::draw_small_bar(ui, {at.x + width + gap, at.y + ui.px(4)}, coloring_);
    ImGui::Dummy({width + gap + bar, ui.px(32)});
    ui.recorder.item("value", ui.recorder.claim("Overlay colours##overlay_colours"),
                     fmt::format("{}: 0 to {}", words, plain_number(coloring_.range.high, 2)));
}

const std::vector<float>& SampleOverlay::values(const Completion& completion, size_t sample) const {
    if (overlay_ == Overlay::original) return original_;
    return overlay_ == Overlay::spread ? spread_ : overlay_values(completion, sample, overlay_);
}

ImU32 SampleOverlay::ground(const Completion& completion, size_t sample, size_t token) const {
    if (overlay_ == Overlay::none) return 0;
    const std::vector<float>& of = values(completion, sample);
    if (token >= of.size() || !std::isfinite(of[token])) return 0;
    const Rgb color = map_color(of[token], coloring_.range, coloring_.scale, coloring_.map);
    return IM_COL32(color[0], color[1], color[2], 255);
}

std::string SampleOverlay::words_at(const Completion& completion, size_t sample,
                                    int64_t pixel) const {
    if (overlay_ == Overlay::none) return "";
    const std::vector<float> means = pixel_means(values(completion, sample), channels_);
    const auto i = static_cast<size_t>(pixel);
    if (i >= means.size() || !std::isfinite(means[i])) return "";
    return plain_number(means[i], 2) + " " + unit_of(overlay_, is_text_);
}

}  // namespace aft::app

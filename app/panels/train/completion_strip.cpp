#include "app/panels/train/completion_strip.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "app/panels/shared/completion_readings.h"
#include "app/widgets/combo.h"
#include "app/widgets/text.h"
#include "app/widgets/tooltip.h"
#include "core/outside.h"
#include "core/text.h"

namespace aft::app {
namespace {

constexpr float kStripPicture = 96, kStripGap = 10, kStripFoot = 24;

std::string first_line_of(const ViewState& ui, const Completion& completion) {
    const auto prompt =
        size_t(std::count(completion.unknown.begin(), completion.unknown.end(), uint8_t{0}));
    std::string text =
        shown_text(ui, completion.samples.front(), prompt, completion.unknown.size());
    text.erase(0, std::min(text.find_first_not_of("\n "), text.size()));
    return text.substr(0, text.find('\n'));
}

std::string bits_words(const ViewState& ui, const Completion& completion) {
    const double bits = sample_bits(completion, 0);
    if (!std::isfinite(bits)) return "\u2013";
    return fmt::format("{:.4f} bits/{}", bits, is_text_model(ui) ? "byte" : "dim");
}

// Pictures from left to right, then in the next line.
struct PictureFlow {
    ImVec2 corner, size;
    float pitch, row;
    int columns, zoom, next = 0;
    [[nodiscard]] ImVec2 take() {
        const auto column = float(next % columns), line = float(next / columns);
        ++next;
        return {corner.x + column * pitch, corner.y + line * row};
    }
};

PictureFlow flow_of(const PaneContext& ui) {
    const ModelConfig& config = ui.status.config.model;
    PictureFlow flow{};
    flow.corner = ImGui::GetCursorScreenPos();
    flow.zoom = viz::fit_zoom({ui.px(kStripPicture), ui.px(kStripPicture)}, config.height,
                              config.width, 4096);
    flow.size = {float(flow.zoom) * float(config.width), float(flow.zoom) * float(config.height)};
    flow.pitch = std::max(flow.size.x, ui.px(64)) + ui.px(kStripGap);
    flow.row = flow.size.y + ui.px(kStripFoot);
    flow.columns =
        std::max(1, int((ImGui::GetContentRegionAvail().x + ui.px(kStripGap)) / flow.pitch));
    return flow;
}

struct StripPicture {
    WidgetName name;
    std::string caption, value, tip;
    bool is_chosen = false;
    std::span<const uint8_t> mask{};
};

// True: it was pressed.
bool draw_picture(PaneContext& ui, PictureFlow& flow, const viz::TokenTexture& texture,
                  const StripPicture& of) {
    const ImVec2 at = flow.take();
    viz::ImageView view;
    view.id = of.name.id.c_str();
    view.height = ui.status.config.model.height;
    view.width = ui.status.config.model.width;
    view.zoom = flow.zoom;
    view.mask = of.mask;
    ImGui::SetCursorScreenPos(at);
    const viz::ImageReply reply = draw_image(view, texture, ui);
    tooltip(ui, {.name = of.caption, .sentence = of.tip});
    if (of.is_chosen) viz::draw_ring(ui, reply.box, ui.theme.accent, 2);
    text_at(ui, {at.x, at.y + flow.size.y + ui.px(3)}, of.caption,
            {text_size::hint, of.is_chosen ? ui.theme.text1 : ui.theme.text2, Face::regular,
             flow.pitch - ui.px(4)});
    ui.recorder.area({.kind = "picture",
                      .path = ui.recorder.claim(of.name),
                      .min = reply.box.low,
                      .max = reply.box.high,
                      .value = of.value,
                      .why_not = {}});
    return reply.clicked.is_valid();
}

}  // namespace

std::string completion_words(const WatchedCompletion& one) {
    std::string words = !one.prompt.empty()  ? "prompt " + printable_line(one.prompt.substr(0, 24))
                        : !one.path.empty()  ? one.path.substr(one.path.find_last_of('/') + 1)
                        : !one.split.empty() ? fmt::format("{} {}", one.split, one.index)
                        : one.mask.empty()   ? "no prompt"
                                             : "blank picture";
    words += fmt::format("  \u00B7  T {:.2f}, seed {}", one.temperature, one.seed);
    if (one.top_p < 1) words += fmt::format(", top-p {:.2f}", one.top_p);
    if (one.top_k > 0) words += fmt::format(", top-k {}", one.top_k);
    if (one.particles > 1) words += fmt::format(", {} particles", one.particles);
    return words;
}

void CompletionStrip::draw_pictures(PaneContext& ui, const WatchedCompletion& watched,
                                    size_t index) {
    const ModelConfig& model = ui.status.config.model;
    const CompletionRequest& request = series_.request();
    const auto picture = [&](const std::vector<uint8_t>& tokens) {
        return viz::TokenImage{.tokens = tokens,
                               .height = model.height,
                               .width = model.width,
                               .channels = model.channels,
                               .levels = model.levels};
    };
    const ImVec2 corner = ImGui::GetCursorScreenPos();
    PictureFlow flow = flow_of(ui);
    source_.set(picture(request.tokens), ui);
    (void)draw_picture(ui, flow, source_,
                       {.name = {"Given", fmt::format("completion_{}_given", index)},
                        .caption = "Given",
                        .value = completion_words(watched),
                        .tip = "What is completed; the hatched part is filled in.",
                        .mask = watched.mask});
    std::erase_if(textures_,
                  [&](const auto& one) { return !series_.completions().contains(one.first); });
    for (const auto& [step, completion] : series_.completions()) {
        Pictured& shown = textures_[step];
        if (std::exchange(shown.of, completion) != completion)
            shown.texture.set(picture(completion->samples.front()), ui);
        const bool is_pressed =
            draw_picture(ui, flow, shown.texture,
                         {.name = {fmt::format("Step {}", step),
                                   fmt::format("completion_{}_step_{}", index, step)},
                          .caption = "step " + group_thousands(step),
                          .value = bits_words(ui, *completion),
                          .tip = bits_words(ui, *completion) + ". A click shows the step "
                                                               "everywhere.",
                          .is_chosen = step == ui.selection.step});
        if (is_pressed) ui.commands.send(ShowStep{step});
    }
    ImGui::SetCursorScreenPos(corner);
    const int lines = (flow.next + flow.columns - 1) / flow.columns;
    ImGui::Dummy({ImGui::GetContentRegionAvail().x, flow.row * float(lines)});
}

void CompletionStrip::draw_texts(PaneContext& ui, size_t index) {
    for (const auto& [step, completion] : series_.completions()) {
        const std::string text = first_line_of(ui, *completion);
        const Row line = row(
            ui, {fmt::format("Step {}", step), fmt::format("completion_{}_step_{}", index, step)},
            {24, step == ui.selection.step, text});
        text_at(ui, {line.min.x + ui.px(8), line.min.y + ui.px(4)}, "step " + group_thousands(step),
                {text_size::hint, ui.theme.text2});
        text_at(ui, {line.min.x + ui.px(110), line.min.y + ui.px(3)}, text,
                {text_size::label, ui.theme.text1, Face::mono,
                 std::max(1.0F, line.max.x - line.min.x - ui.px(118))});
        if (line.pressed) ui.commands.send(ShowStep{step});
    }
}

void CompletionStrip::draw(PaneContext& ui, const WatchedCompletion& watched, size_t index) {
    if (!series_.error().empty()) {
        hint(ui, series_.error() + ".");
        ui.recorder.item(
            "value", ui.recorder.claim({"Problem", fmt::format("completion_{}_problem", index)}),
            series_.error());
    }
    if (series_.request().unknown.empty()) return;
    is_text_model(ui) ? draw_texts(ui, index) : draw_pictures(ui, watched, index);
}

}  // namespace aft::app

// Samples: the completions side by side, filling in while the model draws.
#include <algorithm>
#include <cmath>

#include "app/panels/complete_common.h"
#include "app/ui/icons.h"
#include "app/ui/panel.h"
#include "app/ui/parts.h"
#include "app/ui/widgets.h"
#include "core/colormap.h"
#include "core/text.h"

namespace aft::app {
namespace {

constexpr const char* kOverlayWords[] = {"None", "Entropy", "Bits"};

class SamplesPanel final : public Panel {
  public:
    void draw(Ui& ui) override;
    void actions(Actions& actions) override;

  private:
    void draw_controls(Ui& ui, const Completion* completion);
    void draw_caption(Ui& ui, const Completion& completion);
    void draw_grid(Ui& ui, const Completion& completion);
    void draw_sample(Ui& ui, const Completion& completion, size_t sample, int zoom);
    void draw_texts(Ui& ui, const Completion& completion);
    [[nodiscard]] Image overlay_image(const Ui& ui, const Completion& completion,
                                      size_t sample) const;
    std::vector<viz::TokenTexture> textures_;
    std::vector<uint8_t> outlined_;
};

void SamplesPanel::actions(Actions& actions) {
    actions.add({.name = "Complete",
                 .sentence = "Fills what is masked, several times, while you watch.",
                 .icon = icon::play,
                 .shortcut = "Ctrl+Enter",
                 .menu = "Run",
                 .why_not = why_not_complete,
                 .run = [](Ui& ui) {
                     ui.workspace = Workspace::complete;
                     start_completion(ui);
                 }});
    actions.add({.name = "Stop completion",
                 .sentence = "Stops drawing before the next value; what is there stays.",
                 .icon = icon::stop,
                 .shortcut = "",
                 .menu = "Run",
                 .why_not = [](const Ui& ui) -> std::string {
                     return ui.session && is_running(ui.session->completion().get())
                                ? ""
                                : "no completion is running";
                 },
                 .run = [](Ui& ui) { ui.session->stop_completion(); }});
    actions.add({.name = "Continue from here",
                 .sentence = "Keeps everything before the chosen place and draws the rest again.",
                 .icon = icon::play,
                 .shortcut = "",
                 .menu = "",
                 .why_not = [](const Ui& ui) -> std::string {
                     const auto done = ui.session ? ui.session->completion() : nullptr;
                     return done && !done->samples.empty() ? "" : "nothing has been completed yet";
                 },
                 .run = continue_from_here});
}

void SamplesPanel::draw(Ui& ui) {
    if (!can_complete(ui)) {
        const bool classifier = ui.has_model();
        empty_state(
            ui,
            {.drawing = Drawing::picture,
             .title = classifier ? "This model classifies" : "No model open",
             .sentence = classifier
                             ? "Open an image or text model to complete pictures or text."
                             : "Open a checkpoint or a run to complete masked pictures with it.",
             .primary = "Open...",
             .secondary = "Open demo",
             .hint =
                 "You can also drop a .safetensors file or a picture anywhere in this window."});
        return;
    }
    prepare(ui);
    const auto completion = ui.session->completion();
    draw_controls(ui, completion.get());
    if (completion && !completion->error.empty())
        banner(ui, {.kind = ToastKind::error,
                    .title = "The completion stopped",
                    .sentence = completion->error,
                    .actions = {}});
    if (!completion || completion->samples.empty()) {
        empty_state(ui, {.drawing = Drawing::picture,
                         .title = "Nothing completed yet",
                         .sentence = is_text(ui) ? "Write a prompt, then let the model go on."
                                                 : "Paint what is to be filled, then complete.",
                         .primary = "Complete",
                         .secondary = {},
                         .hint = {}});
        return;
    }
    draw_caption(ui, *completion);
    if (is_text(ui))
        draw_texts(ui, *completion);
    else
        draw_grid(ui, *completion);
}

void SamplesPanel::draw_controls(Ui& ui, const Completion* completion) {
    if (is_running(completion)) {
        action_button(ui, "Stop completion", ButtonKind::primary, "Stop");
        ImGui::SameLine(0, ui.px(12));
        const int64_t filled = std::count(completion->unknown.begin(),
                                          completion->unknown.begin() + completion->position, 1);
        const int64_t all = std::count(completion->unknown.begin(), completion->unknown.end(), 1);
        const ImVec2 at = ImGui::GetCursorScreenPos();
        const float bar = ui.px(160);
        ImDrawList* draw = ImGui::GetWindowDrawList();
        const float y = at.y + ui.px(13),
                    share = all ? static_cast<float>(filled) / static_cast<float>(all) : 0;
        draw->AddRectFilled({at.x, y - ui.px(3)}, {at.x + bar, y + ui.px(3)},
                            ui.theme.field_pressed);
        draw->AddRectFilled({at.x, y - ui.px(3)}, {at.x + bar * share, y + ui.px(3)}, ui.theme.ok);
        text_at(ui, {at.x + bar + ui.px(10), at.y + ui.px(5)},
                fmt::format("{} of {} {}", group_thousands(filled), group_thousands(all),
                            is_text(ui) ? "bytes" : "sub-pixels"),
                text_size::label, ui.theme.text2);
        ImGui::Dummy({bar + ui.px(190), ui.px(26)});
    } else {
        action_button(ui, "Complete", ButtonKind::primary);
    }
    if (is_text(ui)) return;
    const Choice overlays[] = {{kOverlayWords[0]},
                               {kOverlayWords[1], {}, "Uncertainty before each value was drawn"},
                               {kOverlayWords[2], {}, "Surprise of the drawn values"}};
    const float width = 230;
    ImGui::SameLine(
        std::max(ImGui::GetContentRegionMax().x - ui.px(width + 64), ImGui::GetCursorPosX()));
    text(ui, "Overlay", text_size::label, ui.theme.text2);
    ImGui::SameLine(0, ui.px(8));
    int overlay = static_cast<int>(ui.selection.completion.overlay);
    if (segmented(ui, "Overlay", overlay, overlays, ui.px(width) / ui.theme.scale))
        ui.selection.completion.overlay = static_cast<Overlay>(overlay);
}

void SamplesPanel::draw_caption(Ui& ui, const Completion& completion) {
    const SampleOptions& s = ui.selection.completion.sample;
    std::string rest = s.temperature == 0 ? "greedy" : fmt::format("T {:.2f}", s.temperature);
    if (s.top_k > 0) rest += fmt::format(", top-k {}", s.top_k);
    if (s.top_p < 1) rest += fmt::format(", top-p {:.2f}", s.top_p);
    rest += fmt::format(", seed {}  ·  {}, step {}", s.seed, ui.status.name,
                        group_thousands(completion.step));
    if (ui.status.state == RunState::running) rest += " (training goes on)";
    caption(ui,
            fmt::format("{} completion{}", completion.samples.size(),
                        completion.samples.size() == 1 ? "" : "s"),
            rest);
}

void SamplesPanel::draw_grid(Ui& ui, const Completion& completion) {
    const Shape shape = shape_of(ui);
    const float room = ImGui::GetContentRegionAvail().x, high = ImGui::GetContentRegionAvail().y;
    const auto count = static_cast<int>(completion.samples.size());
    const float label = ui.px(28), gap = ui.px(20);
    int best_zoom = 1, best_columns = 1;
    for (int columns = 1; columns <= count; ++columns) {
        const int rows = (count + columns - 1) / columns;
        const float wide = (room - gap * static_cast<float>(columns - 1)) /
                           static_cast<float>(columns) / static_cast<float>(shape.width);
        const float tall = (high - (label + gap) * static_cast<float>(rows)) /
                           static_cast<float>(rows) / static_cast<float>(shape.height);
        const int zoom = std::max(1, static_cast<int>(std::min(wide, tall)));
        if (zoom > best_zoom) best_zoom = zoom, best_columns = columns;
    }
    textures_.resize(completion.samples.size());
    outlined_.assign(static_cast<size_t>(shape.height * shape.width), 0);
    for (size_t i = 0; i < outlined_.size(); ++i)
        outlined_[i] = completion.unknown[i * static_cast<size_t>(shape.channels)];
    for (int i = 0; i < count; ++i) {
        if (i % best_columns != 0) ImGui::SameLine(0, gap);
        ImGui::BeginGroup();
        draw_sample(ui, completion, static_cast<size_t>(i), best_zoom);
        ImGui::EndGroup();
    }
}

void SamplesPanel::draw_sample(Ui& ui, const Completion& completion, size_t sample, int zoom) {
    const Shape shape = shape_of(ui);
    CompletionChoice& choice = ui.selection.completion;
    const bool chosen = choice.chosen == static_cast<int64_t>(sample);
    viz::TokenImage tokens = token_image(ui, completion.samples[sample]);
    tokens.known = completion.position;
    tokens.unknown = completion.unknown;
    if (choice.overlay == Overlay::none)
        textures_[sample].set(tokens, ui.look);
    else
        textures_[sample].set(overlay_image(ui, completion, sample), ui.look);
    const auto cell_of = [&](int64_t position) {
        const int64_t pixel = position / shape.channels;
        return viz::MapCell{pixel / shape.width, pixel % shape.width};
    };
    const std::string id = "Sample " + std::to_string(sample + 1);
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const viz::ImageReply reply = viz::draw_image(
        {.id = id.c_str(),
         .height = shape.height,
         .width = shape.width,
         .zoom = zoom,
         .area = {},
         .target = chosen ? cell_of(play_position(ui, completion)) : viz::MapCell{},
         .source = {},
         .next =
             completion.done || completion.stopped ? viz::MapCell{} : cell_of(completion.position),
         .mask = {},
         .outlined = outlined_},
        textures_[sample], ui.look);
    ui.recorder.item("picture", id, plain_number(bits_per_dim(completion, sample), 2));
    if (chosen)
        viz::draw_ring(ui.look,
                       {low,
                        {low.x + static_cast<float>(shape.width * zoom),
                         low.y + static_cast<float>(shape.height * zoom)}},
                       ui.look.colors->accent, 2);
    if (reply.clicked.is_valid()) {
        choice.chosen = static_cast<int64_t>(sample);
        choice.position = (reply.clicked.row * shape.width + reply.clicked.column) * shape.channels;
        choice.level = -1;
    }
    const double bits = bits_per_dim(completion, sample);
    const std::string words =
        fmt::format("{}   {}", sample + 1,
                    std::isfinite(bits) ? plain_number(bits, 2) + " bits/dim" : "known so far");
    text(ui, words, text_size::hint, chosen ? ui.theme.text1 : ui.theme.text2);
}

// The picture, with each filled pixel in the colour of its entropy or surprise (mean over its
// channels, viridis, 0 to 8 bit).
Image SamplesPanel::overlay_image(const Ui& ui, const Completion& completion, size_t sample) const {
    const Shape shape = shape_of(ui);
    const bool entropy = ui.selection.completion.overlay == Overlay::entropy;
    const auto& bits = entropy ? completion.entropy[sample] : completion.surprise[sample];
    Image image = to_rgb(viz::token_pixels(token_image(ui, completion.samples[sample])));
    const Range range{0, std::log2(static_cast<double>(shape.levels))};
    const auto channels = static_cast<size_t>(shape.channels);
    for (size_t pixel = 0; pixel < outlined_.size(); ++pixel) {
        if (!outlined_[pixel]) continue;
        double sum = 0;
        for (size_t c = 0; c < channels; ++c) sum += bits[pixel * channels + c];
        const bool is_there = std::isfinite(sum);
        const Rgb color = is_there ? map_color(sum / static_cast<double>(channels), range,
                                               Scale::linear, Colormap::viridis)
                                   : Rgb{27, 30, 34};
        std::copy(color.begin(), color.end(),
                  image.pixels.begin() + static_cast<ptrdiff_t>(pixel * 3));
    }
    return image;
}

void SamplesPanel::draw_texts(Ui& ui, const Completion& completion) {
    for (size_t i = 0; i < completion.samples.size(); ++i) {
        const auto& tokens = completion.samples[i];
        const auto prompt = static_cast<size_t>(
            std::count(completion.unknown.begin(), completion.unknown.end(), 0));
        const auto known = static_cast<size_t>(
            std::min<int64_t>(completion.position, static_cast<int64_t>(tokens.size())));
        const bool chosen = ui.selection.completion.chosen == static_cast<int64_t>(i);
        const Row head = row(ui, "Sample " + std::to_string(i + 1), 26, chosen,
                             plain_number(bits_per_dim(completion, i), 2));
        text_at(
            ui, {head.min.x + ui.px(10), head.min.y + ui.px(4)},
            fmt::format("{}   {} bits/byte", i + 1, plain_number(bits_per_dim(completion, i), 2)),
            text_size::label, chosen ? ui.theme.text1 : ui.theme.text2);
        if (head.pressed) ui.selection.completion.chosen = static_cast<int64_t>(i);
        text_wrapped(ui, token_text(ui, {tokens.data(), std::min(prompt, known)}), text_size::label,
                     ui.theme.text3);
        if (known > prompt)
            text_wrapped(ui, token_text(ui, {tokens.data() + prompt, known - prompt}),
                         text_size::label, ui.theme.text1);
        hairline(ui);
    }
}

}  // namespace

PanelRoom complete_samples_panel() {
    return {
        .info = {"Samples",
                 "Completions of the masked picture or prompt, filling in while the model draws."},
        .icon = icon::grid,
        .help =
            "Ctrl+Enter starts, Esc stops. A click on a pixel of a sample shows its distribution "
            "in Play, from where "
            "the drawing can go on with another value.",
        .places = {{Workspace::complete, Slot::canvas, 0}},
        .make = [] { return std::unique_ptr<Panel>(std::make_unique<SamplesPanel>()); }};
}

}  // namespace aft::app

// Samples: the completions, filling in while one watches.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "app/panels/complete/batch_grid.h"
#include "app/panels/complete/batch_run.h"
#include "app/panels/complete/completion_actions.h"
#include "app/panels/complete/completion_progress.h"
#include "app/panels/complete/completion_state.h"
#include "app/panels/complete/original_bits.h"
#include "app/panels/complete/sample_grid.h"
#include "app/panels/complete/sample_marks.h"
#include "app/panels/complete/sample_overlay.h"
#include "app/panels/complete/sample_reading.h"
#include "app/panels/complete/sample_text.h"
#include "app/panels/panel.h"
#include "app/panels/shared/loss_words.h"
#include "app/panels/shared/model_state.h"
#include "app/panels/shared/overlay_image.h"
#include "app/widgets/buttons.h"
#include "app/widgets/combo.h"
#include "app/widgets/states.h"
#include "app/widgets/text.h"
#include "core/text.h"
#include "viz/image_grid.h"

namespace aft::app {

PanelRoom complete_panel();

namespace {

constexpr float kLeastPicture = 56;  // its number and bits can still be read

class CompletePanel : public Panel {
  public:
    void draw(Ui& ui) override;
    void actions(Actions& list) override { add_completion_actions(list); }
    [[nodiscard]] std::vector<std::string> figures() const override { return {"completions"}; }

  private:
    struct ShownSample {
        viz::TokenTexture texture;
    };
    void draw_tools(Ui& ui, const std::optional<CompletionProgress>& progress);
    void draw_marks_and_overlay(Ui& ui);
    void draw_grid(PaneContext& ui, const Completion& completion);
    void draw_sample(PaneContext& ui, const Completion& completion, size_t sample, int zoom);
    void draw_sample_foot(PaneContext& ui, const Completion& completion, size_t sample,
                          float width);
    void draw_texts(PaneContext& ui, const Completion& completion);
    void draw_foot(PaneContext& ui, const Completion& completion);
    void update_overlay(PaneContext& ui, const std::shared_ptr<const Completion>& completion);
    std::vector<ShownSample> shown_;
    SampleOverlay overlay_;
    OriginalBits original_;
    BatchGrid batch_;
    std::vector<uint8_t> masked_;  // [height, width] of the completion that is shown
    viz::MapCell hovered_;
    int64_t hovered_byte_ = -1;
    size_t hovered_sample_ = 0;
};

std::string settings_words(const ViewState& ui, const Completion& completion) {
    const SampleOptions& used = ui.selection.completion.used;
    std::string words = fmt::format("T {:.2f}", used.temperature);
    if (used.top_p < 1) words += fmt::format(", top-p {:.2f}", used.top_p);
    if (used.top_k > 0) words += fmt::format(", top-k {}", used.top_k);
    if (used.particles > 1) words += fmt::format(", {} particles", used.particles);
    words += fmt::format(", seed {}  \u00B7  {}, step {}", used.seed, ui.status.name,
                         group_thousands(completion.step));
    if (ui.status.state == RunState::running) words += " (training continues)";
    return words;
}

// At the right end, on a line of their own where they do not fit, on two where one is too short.
void CompletePanel::draw_marks_and_overlay(Ui& ui) {
    const float tools = sample_tools_width(ui) + ui.px(10);
    const float both = tools + ui.px(kOverlayChoiceWidth);
    const float left = ImGui::GetWindowPos().x + ImGui::GetCursorStartPos().x;
    const float right = ImGui::GetWindowPos().x + ImGui::GetContentRegionMax().x;
    const bool is_split = right - left < both;
    const float width = is_split ? tools : both;
    if (right - width < ImGui::GetCursorScreenPos().x) ImGui::NewLine();
    ImGui::SetCursorScreenPos(
        {std::max(left, right - width), ImGui::GetCursorScreenPos().y + ui.px(2)});
    draw_sample_tools(ui);
    if (is_split)
        ImGui::NewLine();
    else
        ImGui::SameLine(0, ui.px(8));
    draw_overlay_choice(ui);
}

void CompletePanel::draw_tools(Ui& ui, const std::optional<CompletionProgress>& progress) {
    if (is_completing(ui)) {
        if (button(ui, {.name = "Stop##stop",
                        .icon = icon::stop,
                        .kind = ButtonKind::primary,
                        .tip = "Stops between two tokens; Continue resumes it.",
                        .shortcut = "Esc"}))
            ui.commands.send(StopCompletion{});
    } else {
        // Where nothing is drawn yet, the middle of the pane has the filled one.
        (void)action_button(ui, "complete.start",
                            progress ? ButtonKind::primary : ButtonKind::normal, "Complete");
    }
    ImGui::SameLine();
    const Action* next = ui.actions.find("complete.resume");
    if (next != nullptr && button(ui, {.name = "Continue##continue",
                                       .icon = icon::play,
                                       .why_not = next->why_not(ui),
                                       .tip = next->sentence}))
        next->run(ui);
    if (!progress) return;
    ImGui::SameLine(0, ui.px(16));
    draw_progress(ui, *progress);
    ImGui::SameLine();
    draw_marks_and_overlay(ui);
}

void CompletePanel::draw_sample_foot(PaneContext& ui, const Completion& completion, size_t sample,
                                     float width) {
    const bool chosen = sample == sample_looked_at(ui, completion);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const std::string number = std::to_string(sample + 1);
    const float number_width = text_extent(ui, number, text_size::label).x;
    const bool is_starred = ui.selection.completion.starred.contains(static_cast<int64_t>(sample));
    text_at(ui, {at.x, at.y + ui.px(4)}, number,
            {text_size::label, chosen ? ui.theme.text1 : ui.theme.text3,
             chosen ? Face::medium : Face::regular});
    if (is_starred)
        icon_at(ui, {at.x + number_width + ui.px(10), at.y + ui.px(12)}, icon::star,
                {14, ui.theme.warn});
    const double bits = sample_bits(completion, sample);
    std::string words = fmt::format("{} {}", plain_number(bits, 2), loss_unit(ui));
    const float used = std::max(ui.px(20), number_width + ui.px(8)) + ui.px(is_starred ? 14 : 0);
    // The unit stands in the caption, too.
    if (text_extent(ui, words, text_size::label).x > width - used) words = plain_number(bits, 2);
    if (std::isfinite(bits) && text_extent(ui, words, text_size::label).x <= width - used)
        text_at(ui, {at.x + used, at.y + ui.px(4)}, words,
                {text_size::label, chosen ? ui.theme.text1 : ui.theme.text2});
    ImGui::Dummy({width, ui.px(26)});
}

void CompletePanel::draw_sample(PaneContext& ui, const Completion& completion, size_t sample,
                                int zoom) {
    const ModelConfig& model = ui.status.config.model;
    CompletionChoice& choice = ui.selection.completion;
    const bool running = completion.position < completion.total;
    ShownSample& shown = shown_[sample];
    const viz::TokenImage image = sample_image(model, completion, sample);
    if (!overlay_.is_on()) {
        shown.texture.set(image, ui);
    } else {
        const std::vector<float>& values = overlay_.values(completion, sample);
        shown.texture.set(overlay_image(image, values, overlay_.coloring()), ui);
        if (ui.numbers != nullptr)
            shown.texture.note_values({.name = {},
                                       .shape = {model.height, model.width, model.channels},
                                       .values = {values.begin(), values.end()}});
    }
    const int64_t position = position_looked_at(ui, completion);
    const bool chosen = sample == sample_looked_at(ui, completion);
    const auto cell = [&](int64_t i) {
        const int64_t pixel = i / model.channels;
        return viz::MapCell{pixel / model.width, pixel % model.width};
    };
    const std::string id = fmt::format("sample {}", sample);
    viz::ImageView view;
    view.id = id.c_str();
    view.height = model.height;
    view.width = model.width;
    view.zoom = zoom;
    view.outlined = masked_;
    const std::vector<uint8_t> changed = changed_pixels(model, choice, completion, sample);
    view.changed = changed;
    if (!completion.done && running) view.next = cell(completion.position);
    if (chosen && position >= 0 && choice.position >= 0) view.target = cell(position);
    const viz::ImageReply reply = draw_image(view, shown.texture, ui);
    if (chosen) viz::draw_ring(ui, reply.box, ui.theme.accent, 2);
    if (reply.hovered.is_valid()) {
        hovered_ = reply.hovered;
        hovered_sample_ = sample;
    }
    if (reply.clicked.is_valid())
        look_at_pixel(choice, static_cast<int64_t>(sample),
                      reply.clicked.row * model.width + reply.clicked.column, model.channels);
    ui.recorder.area({.kind = "picture",
                      .path = ui.recorder.claim(fmt::format("Sample {0}##sample_{0}", sample + 1)),
                      .min = reply.box.low,
                      .max = reply.box.high,
                      .value = fmt::format("{:.4f} bits/dim", sample_bits(completion, sample)),
                      .why_not = {}});
    draw_sample_foot(ui, completion, sample, reply.box.width());
}

void CompletePanel::draw_grid(PaneContext& ui, const Completion& completion) {
    const ModelConfig& model = ui.status.config.model;
    const std::vector<size_t> order =
        shown_samples(ui.selection.completion, completion.samples.size());
    const size_t count = order.size();
    if (static_cast<int64_t>(completion.unknown.size()) != ui.status.tokens) return;
    masked_ = pixel_mask(model, completion.unknown);
    if (shown_.size() != completion.samples.size())
        shown_ = std::vector<ShownSample>(completion.samples.size());
    const ImVec2 area = ImGui::GetContentRegionAvail();
    const ImVec2 extra(ui.px(20), ui.px(38));
    const GridFit fit = readable_grid(count, {float(model.width), float(model.height)}, area,
                                      {.extra = extra, .least = ui.px(kLeastPicture)});
    const int zoom = fit.zoom;
    const float pitch =
        std::min(area.x / float(fit.columns), float(zoom * model.width) + area.x * 0.1F);
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const float row_height = float(zoom * model.height) + extra.y;
    for (size_t i = 0; i < count; ++i) {
        const auto column = static_cast<float>(static_cast<int>(i) % fit.columns);
        const auto row = static_cast<float>(static_cast<int>(i) / fit.columns);
        ImGui::SetCursorScreenPos({std::floor(start.x + ui.px(3) + column * pitch),
                                   std::floor(start.y + ui.px(4) + row * row_height)});
        ImGui::BeginGroup();
        draw_sample(ui, completion, order[i], zoom);
        ImGui::EndGroup();
    }
}

void CompletePanel::draw_texts(PaneContext& ui, const Completion& completion) {
    const auto first_unknown =
        std::find(completion.unknown.begin(), completion.unknown.end(), uint8_t{1});
    const auto prompt = static_cast<size_t>(first_unknown - completion.unknown.begin());
    const auto decided = static_cast<size_t>(std::max<int64_t>(0, completion.position));
    for (const size_t i : shown_samples(ui.selection.completion, completion.samples.size())) {
        const bool chosen = i == sample_looked_at(ui, completion);
        const bool is_starred = ui.selection.completion.starred.contains(static_cast<int64_t>(i));
        const auto words = fmt::format("{}   {:.2f} bits/byte{}", i + 1, sample_bits(completion, i),
                                       is_starred ? "   starred" : "");
        if (row(ui, fmt::format("Sample {0}##sample_{0}", i + 1), {26, chosen, words}).pressed) {
            ui.selection.completion.chosen = static_cast<int64_t>(i);
            ui.selection.completion.level = -1;
        }
        const ImVec2 low = ImGui::GetItemRectMin();
        text_at(ui, {low.x + ui.px(8), low.y + ui.px(5)}, words,
                {text_size::label, chosen ? ui.theme.text1 : ui.theme.text2, Face::medium});
        const std::vector<uint8_t>& tokens = completion.samples[i];
        const size_t end = std::min(std::max(decided, prompt), tokens.size());
        const std::vector<uint8_t> bytes = shown_bytes(ui, tokens, end);
        const SampleTextReply reply = draw_sample_text(
            ui, fmt::format("Text {0}##text_{0}", i + 1),
            {.bytes = bytes,
             .prompt = static_cast<int64_t>(std::min(prompt, end)),
             .chosen = chosen ? ui.selection.completion.position : -1,
             .ground = [&, i](size_t at) { return overlay_.ground(completion, i, at); },
             .words = shown_text(ui, tokens, 0, prompt) + "\u2502" +
                      shown_text(ui, tokens, prompt, decided)});
        if (reply.hovered >= static_cast<int64_t>(prompt)) {
            hovered_byte_ = reply.hovered;
            hovered_sample_ = i;
        }
        const int64_t clicked = reply.clicked;
        if (clicked < 0) continue;
        ui.selection.completion.chosen = static_cast<int64_t>(i);
        ui.selection.completion.level = -1;
        if (clicked >= static_cast<int64_t>(prompt)) ui.selection.completion.position = clicked;
    }
}

void CompletePanel::draw_foot(PaneContext& ui, const Completion& completion) {
    std::vector<ReadOut> values;
    const ModelConfig& model = ui.status.config.model;
    const bool on_picture =
        hovered_.is_valid() && !is_text_model(ui) && hovered_sample_ < completion.samples.size();
    const bool on_byte = hovered_byte_ >= 0 && is_text_model(ui) &&
                         hovered_sample_ < completion.samples.size() &&
                         hovered_byte_ < completion.position;
    const bool is_hovered = on_picture || on_byte;
    values.push_back(
        {"sample",
         std::to_string((is_hovered ? hovered_sample_ : sample_looked_at(ui, completion)) + 1)});
    if (on_byte)
        for (ReadOut& value : byte_read_outs(ui, completion, hovered_sample_, hovered_byte_))
            values.push_back(std::move(value));
    if (on_picture)
        for (ReadOut& value : pixel_read_outs(completion, hovered_sample_, hovered_, model))
            values.push_back(std::move(value));
    const Overlay overlay = ui.selection.completion.overlay;
    if (on_picture && (overlay == Overlay::spread || overlay == Overlay::original)) {
        const int64_t pixel = hovered_.row * model.width + hovered_.column;
        const std::string words = overlay_.words_at(completion, hovered_sample_, pixel);
        const char* const name = overlay == Overlay::spread ? "spread" : "original";
        if (!words.empty()) values.push_back({name, words});
    }
    hover_line(ui, values,
               is_text_model(ui)    ? "Play shows the distribution at every byte"
               : model.channels > 1 ? "Click a pixel for its distribution below, again for the "
                                      "next channel"
                                    : "Click a pixel to see its distribution below");
}

void CompletePanel::update_overlay(PaneContext& ui,
                                   const std::shared_ptr<const Completion>& completion) {
    std::vector<float> bits;
    const bool has_original =
        ui.selection.completion.overlay == Overlay::original && !is_text_model(ui);
    if (has_original) bits = original_.update(ui, *completion);
    if (has_original && bits.empty()) hint(ui, original_.why());
    overlay_.update(ui, completion, std::move(bits));
}

void CompletePanel::draw(Ui& ui) {
    if (completion_state(ui)) return;
    follow_source(ui);
    if (is_batch_shown(ui)) {
        draw_tools(ui, progress_of(ui.selection.completion.batch));
        if (is_batch_shown(ui)) batch_.draw(ui);  // its tools may have ended it
        return;
    }
    const auto completion = completion_of(ui);
    const bool has_samples = completion && !completion->samples.empty();
    draw_tools(ui, has_samples ? std::optional(progress_of(ui, *completion)) : std::nullopt);
    if (completion && !completion->error.empty())
        banner(ui, {.title = "The completion could not be made", .sentence = completion->error});
    const bool is_missing = !is_text_model(ui) && picture_problem(ui);
    if (!has_samples && is_missing) return;
    if (!has_samples && is_completion_awaited(ui)) {
        ui.want_frames(2);
        empty_state(ui, {.drawing = is_text_model(ui) ? Drawing::text : Drawing::picture,
                         .title = "Getting ready",
                         .sentence = "It begins when the weights are read and what is computed for "
                                     "other panes has ended."});
        return;
    }
    if (!has_samples) {
        const bool no_image = !is_text_model(ui) && !ui.selection.image.item;
        empty_state(
            ui, {.drawing = is_text_model(ui) ? Drawing::text : Drawing::picture,
                 .title = no_image ? "No image yet" : "No completion yet",
                 .sentence = no_image ? "Drop one here or take one from the data set."
                             : is_text_model(ui)
                                 ? "Write a prompt at the left, then let the model continue it."
                                 : "Paint what is to be filled in, then let the model complete it.",
                 .primary = "complete.start",
                 .primary_words = "Complete"});
        return;
    }
    const std::string earlier = earlier_words(ui, *completion);
    caption(ui,
            fmt::format("{} completion{}{}{}, {}", completion->samples.size(),
                        completion->samples.size() == 1 ? "" : "s",
                        marks_words(ui.selection.completion), earlier.empty() ? "" : " " + earlier,
                        loss_unit(ui)),
            settings_words(ui, *completion));
    update_overlay(ui, completion);
    overlay_.draw_key(ui);
    hovered_ = {};
    hovered_byte_ = -1;
    const LowCanvas canvas = low_canvas(ui, ui.px(60));
    if (ImGui::BeginChild("samples", {0, canvas.height}, ImGuiChildFlags_NavFlattened))
        is_text_model(ui) ? draw_texts(ui, *completion) : draw_grid(ui, *completion);
    ImGui::EndChild();
    if (canvas.has_line) draw_foot(ui, *completion);
}

}  // namespace

PanelRoom complete_panel() {
    return {
        {"Samples", "completions of the masked picture or the prompt, filling in"},
        "samples",
        icon::picture,
        "Complete fills in what is masked, several samples at once. Click a pixel or a character "
        "of a sample to see what the model expected there, a pixel again for its next channel.",
        {{Workspace::complete, Slot::canvas, 0}},
        make_panel<CompletePanel>};
}

}  // namespace aft::app

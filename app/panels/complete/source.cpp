// Source: the picture and its mask (or the prompt of a text model) that Complete works on.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/panels/complete/completion_state.h"
#include "app/panels/complete/picture_choice.h"
#include "app/panels/panel.h"
#include "app/panels/shared/sample_input.h"
#include "app/panels/shared/sample_popup.h"
#include "app/widgets/buttons.h"
#include "app/widgets/fields.h"
#include "app/widgets/text.h"
#include "app/widgets/text_fields.h"
#include "core/text.h"
#include "viz/image_grid.h"

namespace aft::app {

PanelRoom source_panel();

namespace {

class SourcePanel : public Panel {
  public:
    void draw(Ui& ui) override;

  private:
    void draw_openers(Ui& ui);
    void draw_canvas(PaneContext& ui);
    void paint(const viz::ImageReply& reply, CompletionChoice& choice);
    void draw_brush_ring(PaneContext& ui, const viz::ImageReply& reply);
    void draw_tools(Ui& ui);
    void draw_prompt(PaneContext& ui);
    viz::TokenTexture texture_;
    bool painting_ = false;
    SamplePopup popup_;
    PictureChoice pictures_;
};

void SourcePanel::draw_openers(Ui& ui) {
    const float available = ImGui::GetContentRegionAvail().x / ui.scale - 16;
    if (button(ui, {.name = "Open##open",
                    .icon = icon::open,
                    .tip = "A picture file",
                    .width = available * 0.31F}))
        (void)ui.actions.run(ui, "file.open");
    ImGui::SameLine();
    const std::string why = ui.status.config.data.source.empty() ? "This model has no data." : "";
    if (button(ui, {.name = "Data set##data_set",
                    .icon = icon::picture,
                    .why_not = why,
                    .tip = "A picture of the data that the model was trained on.",
                    .width = available * 0.43F}))
        ImGui::OpenPopup("samples");
    popup_.draw(ui, &ui.selection.completion.pictures);
    ImGui::SameLine();
    if (button(ui, {.name = "Blank##blank",
                    .tip = "An empty picture to fill",
                    .width = available * 0.26F}))
        (void)ui.actions.run(ui, "complete.blank_picture");
    sample_steps(ui);
    ImGui::SameLine();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    text_at(ui, {at.x, at.y + (ui.px(26) - ui.px(text_size::label)) / 2}, sample_words(ui),
            {text_size::label, ui.theme.text2, Face::regular, ImGui::GetContentRegionAvail().x});
    ImGui::NewLine();
}

void SourcePanel::paint(const viz::ImageReply& reply, CompletionChoice& choice) {
    if (reply.pressed && reply.hovered.is_valid()) {
        choice.mask.begin(choice.tool, choice.brush, {reply.hovered.row, reply.hovered.column});
        painting_ = true;
    } else if (painting_ && reply.dragged.is_valid()) {
        choice.mask.drag({reply.dragged.row, reply.dragged.column});
    }
    if (painting_ && reply.released) {
        choice.mask.end();
        painting_ = false;
    }
}

void SourcePanel::draw_brush_ring(PaneContext& ui, const viz::ImageReply& reply) {
    const CompletionChoice& choice = ui.selection.completion;
    if (!reply.hovered.is_valid() || choice.tool == viz::PaintTool::rectangle) return;
    const auto zoom = static_cast<float>(reply.zoom);
    const ImVec2 middle(reply.box.low.x + zoom * (float(reply.hovered.column) + 0.5F),
                        reply.box.low.y + zoom * (float(reply.hovered.row) + 0.5F));
    const float radius = zoom * (float(choice.brush) + 0.5F);
    ImDrawList* draw = ImGui::GetWindowDrawList();
    draw->AddCircle(middle, radius, IM_COL32(11, 12, 14, 220), 0, ui.px(3));
    draw->AddCircle(middle, radius, IM_COL32_WHITE, 0, ui.px(1.5F));
}

void SourcePanel::draw_canvas(PaneContext& ui) {
    CompletionChoice& choice = completion_choice(ui);
    const ModelConfig& model = ui.status.config.model;
    const auto& item = ui.selection.image.item;
    const bool fits = item && static_cast<int64_t>(item->tokens.size()) == ui.status.tokens;
    if (fits)
        texture_.set(viz::TokenImage{.tokens = item->tokens,
                                     .height = model.height,
                                     .width = model.width,
                                     .channels = model.channels,
                                     .levels = model.levels},
                     ui);
    const float side = std::min(ImGui::GetContentRegionAvail().x, ui.px(320));
    viz::ImageView view;
    view.id = "source";
    view.height = model.height;
    view.width = model.width;
    view.area = {side, side};
    view.mask = choice.mask.mask();
    view.alpha = fits ? 1.0F : 0.0F;
    const viz::ImageReply reply = draw_image(view, texture_, ui);
    paint(reply, choice);
    draw_brush_ring(ui, reply);
    ui.recorder.area({.kind = "picture",
                      .path = ui.recorder.claim("Picture##picture"),
                      .min = reply.box.low,
                      .max = reply.box.high,
                      .value = sample_words(ui),
                      .why_not = {}});
    const auto mask = choice.mask.mask();
    const int64_t masked = std::count(mask.begin(), mask.end(), uint8_t{1});
    const std::string words = fmt::format("Mask covers {} of {} pixels", group_thousands(masked),
                                          group_thousands(static_cast<int64_t>(mask.size())));
    const auto& image = ui.selection.image;
    hint(ui, fits                   ? words
             : !image.error.empty() ? "There is no picture: " + image.error
             : item                 ? "This picture has another size than the model's."
                                    : "Reading the picture...");
    ui.recorder.item("value", ui.recorder.claim("Mask##mask"), words);
    if (!fits || item->changes.empty()) return;
    hint(ui, "File: " + item->changes);
    ui.recorder.item("value", ui.recorder.claim("Fitting##fitting"), item->changes);
}

void SourcePanel::draw_tools(Ui& ui) {
    CompletionChoice& choice = completion_choice(ui);
    section(ui, "Tools##tools");
    const char* names[] = {"Brush##brush", "Eraser##eraser", "Rectangle##rectangle"};
    const char* icons[] = {icon::brush, icon::eraser, icon::rectangle};
    const char* keys[] = {"B", "E", ""};
    const char* tips[] = {"Paints what is to be filled in.", "Takes pixels out of the mask.",
                          "Masks a rectangle that is dragged."};
    for (int i = 0; i < 3; ++i) {
        const auto tool = static_cast<viz::PaintTool>(i);
        if (button(ui, {.name = names[i],
                        .icon = icons[i],
                        .kind = ButtonKind::icon,
                        .tip = tips[i],
                        .shortcut = keys[i],
                        .selected = choice.tool == tool}))
            choice.tool = tool;
        ImGui::SameLine(0, ui.px(4));
    }
    for (const char* action : {"mask.invert", "mask.undo", "mask.redo", "mask.file"}) {
        (void)action_button(ui, action, ButtonKind::icon);
        ImGui::SameLine(0, ui.px(4));
    }
    ImGui::NewLine();
    label_column(ui, "Brush size", 84);
    int64_t across = 2 * choice.brush + 1;
    if (slider(ui,
               {.name = "Brush size##brush_size",
                .min = 1,
                .max = 17,
                .standard = 3,
                .integer = true,
                .unit = "px",
                .tip = "Pixels across that a stroke of brush or eraser takes; odd numbers."},
               across))
        choice.brush = (across - 1) / 2;
    const Choice presets[] = {
        {.text = "Lower##lower", .tip = "Masks the lower half."},
        {.text = "Right##right", .tip = "Masks the right half."},
        {.text = "Border##border", .tip = "Masks all but the middle."},
        {.text = "Random##random", .tip = "Masks pixels at random, by the seed."}};
    const viz::MaskPreset which[] = {viz::MaskPreset::lower_half, viz::MaskPreset::right_half,
                                     viz::MaskPreset::border, viz::MaskPreset::random};
    int preset = -1;
    if (segmented(ui, "Preset##preset", preset,
                  {presets, ImGui::GetContentRegionAvail().x / ui.scale}))
        choice.mask.apply(which[preset], choice.sample.seed);
    hint(ui,
         "Pixels are drawn in raster order. Known pixels after a hole do not steer it, unless "
         "particles are on.");
}

void SourcePanel::draw_prompt(PaneContext& ui) {
    CompletionChoice& choice = ui.selection.completion;
    section(ui, "Prompt##prompt", fmt::format("{} bytes", choice.prompt.size()), false);
    (void)text_field(ui,
                     {.name = "Prompt##prompt",
                      .hint = "what the text begins with",
                      .mono = true,
                      .tip = "The text that the model continues."},
                     choice.prompt);
    if (const std::string why = why_not_complete(ui); !why.empty()) hint(ui, why);
    label_column(ui, "Length", 84);
    (void)drag_field(ui,
                     {.name = "Length##length",
                      .min = 1,
                      .max = 100000,
                      .standard = 200,
                      .integer = true,
                      .unit = "bytes",
                      .tip = "How many bytes are added to the prompt."},
                     choice.length);
    const int64_t window = ui.status.tokens;
    if (static_cast<int64_t>(choice.prompt.size()) >= window)
        hint(ui, fmt::format("Only the last {} bytes of the prompt are seen.", window - 1));
    section(ui, "From the data##from_the_data");
    if (button(ui, {.name = "Take from the data set##take_from_data",
                    .icon = icon::text,
                    .tip = "The first 64 bytes of the chosen example become the prompt."}) &&
        ui.selection.image.item) {
        const auto& tokens = ui.selection.image.item->tokens;
        choice.prompt = shown_text(ui, tokens, 0, std::min<size_t>(tokens.size(), 64));
        std::erase_if(choice.prompt, [](char c) { return static_cast<uint8_t>(c) >= 127; });
    }
    hint(ui, sample_words(ui));
    hint(ui, "One prompt at a time, in as many samples as asked for: there is no batch of them.");
}

void SourcePanel::draw(Ui& ui) {
    if (ui.session == nullptr || !ui.has_model() || !ui.status.task.is_autoregressive) {
        hint(ui, "The picture and its mask, or the prompt, stand here.");  // Samples says more
        return;
    }
    if (is_text_model(ui)) return draw_prompt(ui);
    draw_openers(ui);
    draw_canvas(ui);
    pictures_.draw(ui);
    draw_tools(ui);
}

}  // namespace

PanelRoom source_panel() {
    return {{"Source", "the picture and the mask, or the prompt, that is completed"},
            "source",
            icon::picture,
            "Take a picture from a file or the data set, or drop one; paint what is to be filled "
            "in. Text models: write the prompt.",
            {{Workspace::complete, Slot::left, -1}},
            make_panel<SourcePanel>};
}

}  // namespace aft::app

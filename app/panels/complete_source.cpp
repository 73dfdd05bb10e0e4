// Source: the picture or prompt to complete, and the mask with its tools.
#include <algorithm>

#include "app/panels/complete_common.h"
#include "app/ui/icons.h"
#include "app/ui/panel.h"
#include "app/ui/parts.h"
#include "app/ui/widgets.h"
#include "core/text.h"

namespace aft::app {
namespace {

struct Tool {
    const char *name, *icon, *key;
    viz::PaintTool tool;
};
constexpr Tool kTools[] = {{"Brush", icon::brush, "B", viz::PaintTool::brush},
                           {"Eraser", icon::eraser, "E", viz::PaintTool::eraser},
                           {"Rectangle", icon::rectangle, "", viz::PaintTool::rectangle}};

std::string no_mask(const Ui& ui) {
    return can_complete(ui) && !is_text(ui) ? "" : "no picture to mask is open";
}

class SourcePanel final : public Panel {
  public:
    void draw(Ui& ui) override;
    void actions(Actions& actions) override;

  private:
    void draw_picker(Ui& ui);
    void draw_picture(Ui& ui);
    void draw_tools(Ui& ui);
    void draw_presets(Ui& ui);
    void draw_prompt(Ui& ui);
    viz::TokenTexture texture_;
    bool painting_ = false;
};

void SourcePanel::actions(Actions& actions) {
    const auto add = [&](const char* name, const char* sentence, const char* mark, const char* key,
                         auto run) {
        actions.add({.name = name,
                     .sentence = sentence,
                     .icon = mark,
                     .shortcut = key,
                     .menu = {},
                     .why_not = no_mask,
                     .run = run});
    };
    for (const Tool& tool : kTools)
        add(tool.name,
            tool.tool == viz::PaintTool::brush    ? "Paints what is to be filled."
            : tool.tool == viz::PaintTool::eraser ? "Takes pixels out of the mask."
                                                  : "Masks a rectangle: press, drag, release.",
            tool.icon, tool.key,
            [which = tool.tool](Ui& ui) { ui.selection.completion.tool = which; });
    add("Undo mask", "Takes back the last stroke of the mask.", icon::undo, "Ctrl+Z",
        [](Ui& ui) { ui.selection.completion.mask.undo(); });
    add("Redo mask", "Does the stroke again that was taken back.", icon::redo, "Ctrl+Y",
        [](Ui& ui) { ui.selection.completion.mask.redo(); });
    add("Invert mask", "Swaps what is known and what is to be filled.", icon::invert, "",
        [](Ui& ui) { ui.selection.completion.mask.invert(); });
}

void SourcePanel::draw(Ui& ui) {
    if (!can_complete(ui)) {
        hint(ui, ui.has_model() ? "This model classifies; open an image or text model to complete."
                                : "The picture to complete appears here.");
        return;
    }
    prepare(ui);
    if (is_text(ui)) {
        draw_prompt(ui);
        return;
    }
    draw_picker(ui);
    draw_picture(ui);
    draw_tools(ui);
    draw_presets(ui);
    ImGui::Dummy({0, ui.px(6)});
    hint(ui, "Pixels are drawn in raster order. Known pixels after a hole do not steer it.");
}

void SourcePanel::draw_picker(Ui& ui) {
    section(ui, "Picture", ui.selection.image.item ? ui.selection.image.item->caption : "", false);
    ImageChoice& image = ui.selection.image;
    const Choice splits[] = {{"train"}, {"validation"}, {"test"}};
    int split = image.split == "train" ? 0 : image.split == "validation" ? 1 : 2;
    if (segmented(ui, "Split", split, splits, ImGui::GetContentRegionAvail().x)) {
        image.split = splits[split].text;
        image.path.clear();
    }
    label_column(ui, "Number", 70, "Which picture of the data set");
    if (drag_field(ui,
                   {.name = "Number", .min = 0, .max = 1e9, .integer = true, .drag_speed = 0.1F},
                   image.index))
        image.path.clear();
    if (button(ui, {.name = "Previous picture",
                    .icon = icon::step_back,
                    .kind = ButtonKind::icon,
                    .why_not = image.index > 0 ? "" : "this is the first"})) {
        --image.index;
        image.path.clear();
    }
    ImGui::SameLine(0, ui.px(4));
    if (button(ui, {.name = "Next picture", .icon = icon::step, .kind = ButtonKind::icon})) {
        ++image.index;
        image.path.clear();
    }
    ImGui::SameLine(0, ui.px(8));
    action_button(ui, "Open...", ButtonKind::normal);
    ImGui::Dummy({0, ui.px(2)});
}

void SourcePanel::draw_picture(Ui& ui) {
    CompletionChoice& choice = ui.selection.completion;
    const auto tokens = picture(ui);
    const float side = ImGui::GetContentRegionAvail().x;
    if (tokens.empty()) {
        const ImVec2 at = ImGui::GetCursorScreenPos();
        hatch(ui, at, {at.x + side, at.y + side});
        ImGui::Dummy({side, side});
        hint(ui, "Reading the picture ...");
        return;
    }
    texture_.set(token_image(ui, tokens), ui.look);
    const viz::ImageReply reply = viz::draw_image({.id = "Mask",
                                                   .height = choice.height,
                                                   .width = choice.width,
                                                   .area = {side, side},
                                                   .target = {},
                                                   .source = {},
                                                   .next = {},
                                                   .mask = choice.mask.mask(),
                                                   .outlined = {}},
                                                  texture_, ui.look);
    ui.recorder.item("picture", "Mask", fmt::format("{}x{}", choice.width, choice.height));
    if (reply.pressed && reply.clicked.is_valid()) {
        choice.mask.begin(choice.tool, choice.brush, {reply.clicked.row, reply.clicked.column});
        painting_ = true;
    } else if (painting_ && reply.dragged.is_valid()) {
        choice.mask.drag({reply.dragged.row, reply.dragged.column});
    }
    if (painting_ && (reply.released || !ImGui::IsMouseDown(ImGuiMouseButton_Left))) {
        choice.mask.end();
        painting_ = false;
    }
    const auto mask = choice.mask.mask();
    hint(ui, fmt::format("Mask covers {} of {} pixels",
                         group_thousands(std::count(mask.begin(), mask.end(), 1)),
                         group_thousands(static_cast<int64_t>(mask.size()))));
}

void SourcePanel::draw_tools(Ui& ui) {
    CompletionChoice& choice = ui.selection.completion;
    section(ui, "Tools", {}, false);
    for (const Tool& tool : kTools) {
        if (button(ui, {.name = tool.name,
                        .icon = tool.icon,
                        .kind = ButtonKind::icon,
                        .shortcut = tool.key,
                        .selected = choice.tool == tool.tool}))
            choice.tool = tool.tool;
        ImGui::SameLine(0, ui.px(4));
    }
    action_button(ui, "Invert mask", ButtonKind::icon);
    ImGui::SameLine(0, ui.px(4));
    action_button(ui, "Undo mask", ButtonKind::icon);
    ImGui::SameLine(0, ui.px(4));
    action_button(ui, "Redo mask", ButtonKind::icon);
    label_column(ui, "Brush size", 84, "Radius of brush and eraser");
    slider(ui,
           {.name = "Brush size", .min = 0, .max = 8, .standard = 1, .integer = true, .unit = "px"},
           choice.brush);
}

void SourcePanel::draw_presets(Ui& ui) {
    CompletionChoice& choice = ui.selection.completion;
    constexpr viz::MaskPreset presets[] = {viz::MaskPreset::lower_half, viz::MaskPreset::right_half,
                                           viz::MaskPreset::border,     viz::MaskPreset::random,
                                           viz::MaskPreset::all,        viz::MaskPreset::none};
    const float gap = ui.px(4),
                width = (ImGui::GetContentRegionAvail().x - 2 * gap) / 3 / ui.theme.scale;
    for (int i = 0; i < 6; ++i) {
        if (i % 3 != 0) ImGui::SameLine(0, gap);
        if (button(ui, {.name = viz::preset_name(presets[i]), .width = std::floor(width)}))
            choice.mask.apply(presets[i], choice.sample.seed);
    }
}

void SourcePanel::draw_prompt(Ui& ui) {
    CompletionChoice& choice = ui.selection.completion;
    section(ui, "Prompt", {}, false);
    text_field(ui, {.name = "Prompt", .hint = "Text to go on from", .mono = true}, choice.prompt);
    label_column(ui, "Length", 84, "Bytes to add");
    slider(ui,
           {.name = "Length",
            .min = 1,
            .max = static_cast<double>(std::max<int64_t>(ui.status.tokens - 1, 2)),
            .standard = 200,
            .integer = true,
            .unit = "bytes"},
           choice.length);
    hint(ui, fmt::format("The model reads {} bytes at a time; a longer prompt uses its last part.",
                         ui.status.tokens));
}

}  // namespace

PanelRoom complete_source_panel() {
    return {.info = {"Source", "The picture or prompt to complete, and the mask with its tools."},
            .icon = icon::picture,
            .help =
                "Take a picture from the data set or open a file, then paint what the model shall "
                "fill. "
                "Ctrl+Z takes back a stroke.",
            .places = {{Workspace::complete, Slot::left, 0}},
            .make = [] { return std::unique_ptr<Panel>(std::make_unique<SourcePanel>()); }};
}

}  // namespace aft::app

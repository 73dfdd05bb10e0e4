#include "app/panels/complete/completion_actions.h"

#include <memory>

#include "app/panels/complete/batch_run.h"
#include "app/panels/complete/completion_state.h"
#include "app/panels/complete/sample_marks.h"
#include "app/panels/shared/watch_over_training.h"

namespace aft::app {
namespace {

std::string why_no_mask(const ViewState& ui) {
    if (ui.workspace != Workspace::complete) return "The mask is in the Complete workspace.";
    if (!ui.has_model() || ui.session == nullptr) return "No model is open.";
    const TaskTraits& task = ui.status.task;
    const bool has_mask = task.is_autoregressive && !task.is_text();
    return has_mask ? "" : "Only models of pictures have a mask.";
}

std::string why_no_stroke(const ViewState& ui, bool (viz::MaskCanvas::*can)() const,
                          const char* words) {
    if (std::string why = why_no_mask(ui); !why.empty()) return why;
    return (ui.selection.completion.mask.*can)() ? "" : words;
}

std::string why_not_look(const ViewState& ui) {
    if (std::string why = why_not_continue_here(ui); !why.empty()) return why;
    return why_no_picture(ui);
}

void look_from_here(PaneContext& ui) {
    const auto completion = completion_of(ui);
    const int64_t target =
        take_sample_as_input(ui, *completion, position_looked_at(ui, *completion));
    const Cell cell{.layer = ui.selection.cell.layer, .target = target};
    ui.selection.unlock();
    ui.selection.lock(cell);
    ui.commands.send(ShowWorkspace{Workspace::attention});
}

void add_runs(Actions& actions) {
    actions.add({.id = "complete.start",
                 .name = "Complete the input",
                 .sentence = "Fills in what is masked, or continues the prompt.",
                 .icon = icon::play,
                 .shortcut = "Ctrl+Enter",
                 .menu = "Run",
                 .why_not = why_not_complete,
                 .run = [](PaneContext& ui) {
                     ui.commands.send(ShowWorkspace{Workspace::complete});
                     start_completion(ui);
                 }});
    actions.add({.id = "complete.watch",
                 .name = "Watch completion over training",
                 .sentence = "Completes this at every saved step under the same random numbers, "
                             "in Watched: at those stored and those to come.",
                 .icon = icon::pin,
                 .why_not = why_not_watched,
                 .run = [](Ui& ui) { watch_over_training(ui, watched_of(ui)); }});
    actions.add({.id = "complete.resume",
                 .name = "Continue completing",
                 .sentence = "Continues all samples from where they were stopped.",
                 .icon = icon::play,
                 .why_not = why_not_continue,
                 .run = continue_completion});
    actions.add({.id = "complete.from_here",
                 .name = "Continue from here",
                 .sentence = "Draws the chosen sample again from the position looked at, with the "
                             "new value there.",
                 .icon = icon::play,
                 .why_not = why_not_continue_here,
                 .run = continue_from_position});
    actions.add({.id = "complete.look_from_here",
                 .name = "Look from here",
                 .sentence = "Shows in Attention what the model attended to when it drew this "
                             "value: by position bias, by content, and in which channels. The "
                             "sample is then the chosen picture.",
                 .icon = icon::eye,
                 .why_not = why_not_look,
                 .run = look_from_here});
    actions.add({.id = "complete.new_seed",
                 .name = "New seed",
                 .sentence = "Takes other random numbers for the next completion.",
                 .icon = icon::dice,
                 .run = [](ViewState& ui) { new_seed(ui.selection.completion); }});
}

void add_batch(Actions& actions) {
    actions.add({.id = "complete.batch",
                 .name = "Batch or one picture",
                 .sentence = "Shows all pictures of the batch, or the one that is looked at.",
                 .icon = icon::grid,
                 .why_not =
                     [](const ViewState& ui) {
                         return ui.selection.completion.batch.is_empty()
                                    ? "There is no batch: choose several pictures in Source and "
                                      "complete them."
                                    : "";
                     },
                 .run =
                     [](ViewState& ui) {
                         bool& is_shown = ui.selection.completion.batch.is_shown;
                         is_shown = !is_shown;
                     },
                 .is_on = is_batch_shown});
}

struct ToolAction {
    const char *id, *name, *sentence, *icon, *key;
    viz::PaintTool tool;
};

void add_tools(Actions& actions) {
    const ToolAction tools[] = {{"mask.brush", "Brush", "Paints what is to be filled in.",
                                 icon::brush, "B", viz::PaintTool::brush},
                                {"mask.eraser", "Eraser", "Takes pixels out of the mask.",
                                 icon::eraser, "E", viz::PaintTool::eraser},
                                {"mask.rectangle", "Rectangle", "Masks a rectangle.",
                                 icon::rectangle, "", viz::PaintTool::rectangle}};
    for (const ToolAction& tool : tools)
        actions.add(
            {.id = tool.id,
             .name = tool.name,
             .sentence = tool.sentence,
             .icon = tool.icon,
             .shortcut = tool.key,
             .why_not = why_no_mask,
             .run = [which = tool.tool](ViewState& ui) { ui.selection.completion.tool = which; }});
    actions.add({.id = "mask.invert",
                 .name = "Invert mask",
                 .sentence = "Masks what was known, and the other way round.",
                 .icon = icon::invert,
                 .why_not = why_no_mask,
                 .run = [](ViewState& ui) { completion_choice(ui).mask.invert(); }});
    actions.add({.id = "mask.undo",
                 .name = "Undo stroke",
                 .sentence = "Takes back the last stroke of the mask.",
                 .icon = icon::undo,
                 .why_not =
                     [](const ViewState& ui) {
                         return why_no_stroke(ui, &viz::MaskCanvas::can_undo,
                                              "There is no stroke to take back.");
                     },
                 .run = [](ViewState& ui) { (void)completion_choice(ui).mask.undo(); },
                 .repeats = true});
    actions.add({.id = "mask.redo",
                 .name = "Redo stroke",
                 .sentence = "Does the stroke again that was taken back.",
                 .icon = icon::redo,
                 .why_not =
                     [](const ViewState& ui) {
                         return why_no_stroke(ui, &viz::MaskCanvas::can_redo,
                                              "No stroke was taken back.");
                     },
                 .run = [](ViewState& ui) { (void)completion_choice(ui).mask.redo(); },
                 .repeats = true});
}

void add_presets(Actions& actions) {
    using viz::MaskPreset;
    const std::tuple<const char*, const char*, MaskPreset> presets[] = {
        {"mask.lower_half", "Mask lower half", MaskPreset::lower_half},
        {"mask.right_half", "Mask right half", MaskPreset::right_half},
        {"mask.border", "Mask border", MaskPreset::border},
        {"mask.random", "Mask random pixels", MaskPreset::random},
        {"mask.all", "Mask everything", MaskPreset::all},
        {"mask.clear", "Clear mask", MaskPreset::none}};
    for (const auto& [id, name, preset] : presets)
        actions.add({.id = id,
                     .name = name,
                     .sentence = "Replaces the mask; one undo step.",
                     .icon = icon::grid,
                     .why_not = why_no_mask,
                     .run = [which = preset](ViewState& ui) {
                         CompletionChoice& choice = completion_choice(ui);
                         choice.mask.apply(which, choice.sample.seed);
                     }});
    actions.add({.id = "complete.blank_picture",
                 .name = "Blank picture",
                 .sentence = "An empty picture, all of it masked: the model draws freely.",
                 .icon = icon::rectangle,
                 .why_not = why_no_mask,
                 .run = [](ViewState& ui) {
                     auto item = std::make_shared<DataItem>();
                     item->tokens.assign(static_cast<size_t>(ui.status.tokens), 0);
                     item->caption = "blank";
                     ImageChoice& image = ui.selection.image;
                     image.path.clear();
                     image.error.clear();
                     image.item = std::move(item);
                     completion_choice(ui).mask.apply(MaskPreset::all);
                 }});
}

}  // namespace

void add_completion_actions(Actions& actions) {
    add_runs(actions);
    add_batch(actions);
    add_tools(actions);
    add_presets(actions);
    add_sample_actions(actions);
}

}  // namespace aft::app

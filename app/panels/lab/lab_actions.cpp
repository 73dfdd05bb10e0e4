#include "app/panels/lab/lab_actions.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "app/panels/lab/lab_region.h"
#include "app/panels/lab/lab_words.h"
#include "app/panels/shared/watch_over_training.h"
#include "core/caught.h"
#include "core/free_file.h"
#include "core/text.h"
#include "model/jobs/recipe.h"

namespace aft::app {

namespace {

std::string needs_model(const ViewState& ui) {
    return ui.has_model() ? "" : "No model is open.";
}

std::string needs_any(const ViewState& ui) {
    return ui.selection.lab.recipe.interventions.empty() ? "There is no intervention." : "";
}

std::string needs_lab(const ViewState& ui) {
    return ui.workspace == Workspace::lab ? "" : "This is of the Lab workspace.";
}

std::string default_file(const ViewState& ui) {
    return ui.status.name.empty() ? "recipe.json" : ui.status.name + "-recipe.json";
}

namespace fs = std::filesystem;

bool holds(const fs::path& file, const Recipe& recipe) {
    Recipe found;
    const std::string error = error_words([&] { found = read_recipe(file.string()); });
    return error.empty() && found == recipe;
}

}  // namespace

bool is_recipe_saved(const LabChoice& lab) {
    return !lab.file.empty() && holds(lab.file, lab.recipe);
}

// No file that holds another recipe is written over.
bool save_recipe(Ui& ui) {
    LabChoice& lab = ui.selection.lab;
    const std::string wanted = lab.file.empty() ? default_file(ui) : lab.file;
    const std::string error = error_words([&] {
        const fs::path file =
            free_file(wanted, [&](const fs::path& there) { return holds(there, lab.recipe); });
        if (file.empty()) fail("{}: all names like this one are taken: choose another", wanted);
        if (!holds(file, lab.recipe))
            write_recipe(file.string(), lab.recipe, ui.status.name + ": " + ui.status.mixer.words);
        lab.file = file.string();
    });
    const std::string taken =
        lab.file == wanted ? "" : "  \u00B7  " + wanted + " holds another recipe and stays";
    if (error.empty())
        ui.toasts.add(
            {.kind = ToastKind::done, .title = "Recipe saved", .detail = lab.file + taken});
    else
        ui.toasts.add({.kind = ToastKind::error, .title = "Recipe not saved", .detail = error});
    return error.empty();
}

namespace {

void open(Ui& ui) {
    LabChoice& lab = ui.selection.lab;
    Recipe recipe;
    const std::string error = error_words([&] { recipe = read_recipe(lab.file); });
    if (!error.empty()) {
        ui.toasts.add({.kind = ToastKind::error, .title = "Recipe not opened", .detail = error});
        return;
    }
    lab.begin_edit("");
    lab.recipe = std::move(recipe);
    lab.chosen = 0;
    ui.commands.send(ShowWorkspace{Workspace::lab});
}

void move(LabChoice& lab, int by) {
    std::vector<Intervention>& list = lab.recipe.interventions;
    const auto to = int64_t(lab.chosen) + by;
    if (to < 0 || to >= int64_t(list.size())) return;
    lab.begin_edit("");
    std::swap(list[lab.chosen], list[size_t(to)]);
    lab.chosen = size_t(to);
}

void remove(LabChoice& lab) {
    std::vector<Intervention>& list = lab.recipe.interventions;
    if (lab.chosen >= list.size()) return;
    lab.begin_edit("");
    list.erase(list.begin() + std::ptrdiff_t(lab.chosen));
    if (lab.chosen > 0 && lab.chosen >= list.size()) --lab.chosen;
}

std::string needs_unfit(const ViewState& ui) {
    if (std::string why = needs_model(ui); !why.empty()) return why;
    return unfit_words(ui, ui.selection.lab.recipe).empty() ? "All interventions fit this model."
                                                            : "";
}

// It does not fit, and does with another layer or head.
bool is_repaired(const ViewState& ui, const Intervention& one) {
    return !why_not_fit(ui, one).empty() && why_not_fit(ui, fitted(ui, one)).empty();
}

void add_edits(Actions& actions) {
    actions.add({.id = "lab.undo",
                 .name = "Undo in the Lab",
                 .sentence = "Takes back the last change of the interventions.",
                 .icon = icon::undo,
                 .why_not =
                     [](const ViewState& ui) {
                         if (std::string why = needs_lab(ui); !why.empty()) return why;
                         return std::string(ui.selection.lab.history.can_undo()
                                                ? ""
                                                : "There is nothing to take back.");
                     },
                 .run =
                     [](Ui& ui) {
                         ui.selection.lab.history.undo(ui.selection.lab.recipe);
                         ui.selection.lab.clamp();
                     },
                 .repeats = true});
    actions.add({.id = "lab.redo",
                 .name = "Redo in the Lab",
                 .sentence = "Does the change again that was taken back.",
                 .icon = icon::redo,
                 .why_not =
                     [](const ViewState& ui) {
                         if (std::string why = needs_lab(ui); !why.empty()) return why;
                         return std::string(ui.selection.lab.history.can_redo()
                                                ? ""
                                                : "No change was taken back.");
                     },
                 .run =
                     [](Ui& ui) {
                         ui.selection.lab.history.redo(ui.selection.lab.recipe);
                         ui.selection.lab.clamp();
                     },
                 .repeats = true});
    actions.add({.id = "lab.remove",
                 .name = "Remove intervention",
                 .sentence = "Takes the chosen intervention out of the list.",
                 .icon = icon::close,
                 .why_not = needs_any,
                 .run = [](Ui& ui) { remove(ui.selection.lab); }});
    actions.add({.id = "lab.clear",
                 .name = "Remove all interventions",
                 .sentence = "The model is untouched again; one undo step.",
                 .icon = icon::close,
                 .why_not = needs_any,
                 .run = [](Ui& ui) {
                     ui.selection.lab.begin_edit("");
                     ui.selection.lab.recipe = {};
                     ui.selection.lab.chosen = 0;
                 }});
    for (const bool is_up : {true, false})
        actions.add({.id = is_up ? "lab.earlier" : "lab.later",
                     .name = is_up ? "Do intervention earlier" : "Do intervention later",
                     .sentence = "Changes places with the one before or behind it.",
                     .icon = is_up ? icon::up : icon::below,
                     .why_not = needs_any,
                     .run = [by = is_up ? -1 : 1](Ui& ui) { move(ui.selection.lab, by); }});
}

// What of the recipe is for another model.
void add_fits(Actions& actions) {
    actions.add({.id = "lab.remove_unfit",
                 .name = "Remove what does not fit",
                 .sentence = "Takes out the interventions that are for another model; one undo "
                             "step.",
                 .icon = icon::close,
                 .why_not = needs_unfit,
                 .run = [](Ui& ui) {
                     LabChoice& lab = ui.selection.lab;
                     lab.begin_edit("");
                     std::erase_if(lab.recipe.interventions, [&](const Intervention& one) {
                         return !why_not_fit(ui, one).empty();
                     });
                     lab.clamp();
                 }});
    actions.add({.id = "lab.fit_layers",
                 .name = "Use the last layers and heads",
                 .sentence = "Does what is for layers or heads that this model lacks to its last "
                             "ones; one undo step.",
                 .icon = icon::redo,
                 .why_not =
                     [](const ViewState& ui) {
                         if (std::string why = needs_unfit(ui); !why.empty()) return why;
                         for (const Intervention& one : ui.selection.lab.recipe.interventions)
                             if (is_repaired(ui, one)) return std::string();
                         return std::string(
                             "Other layers and heads do not help: remove what does "
                             "not fit.");
                     },
                 .run =
                     [](Ui& ui) {
                         LabChoice& lab = ui.selection.lab;
                         lab.begin_edit("");
                         for (Intervention& one : lab.recipe.interventions)
                             if (is_repaired(ui, one)) one = fitted(ui, one);
                     }});
}

void add_files(Actions& actions) {
    actions.add({.id = "lab.save_recipe",
                 .name = "Save recipe",
                 .sentence = "Writes the interventions as a recipe that eval, complete and probe "
                             "obey, into the file that the Inspector names.",
                 .icon = icon::save,
                 .why_not = needs_any,
                 .run = save_recipe});
    actions.add({.id = "lab.open_recipe",
                 .name = "Open recipe",
                 .sentence = "Reads the recipe of the file that the Inspector names.",
                 .icon = icon::open,
                 .why_not =
                     [](const ViewState& ui) {
                         return std::string(ui.selection.lab.file.empty()
                                                ? "Type the file's name in the Inspector, or "
                                                  "choose the file."
                                                : "");
                     },
                 .run = open});
    actions.add({.id = "lab.browse_recipe",
                 .name = "Choose recipe file",
                 .sentence = "Looks for a recipe on the disk and opens it.",
                 .icon = icon::folder,
                 .run = [](Ui& ui) { ui.commands.send(BrowseFiles{}); }});
    actions.add({.id = "lab.copy_command",
                 .name = "Copy recipe command",
                 .sentence = "Saves the recipe, and puts the command on the clipboard that "
                             "measures the model with it at the step of the Lab.",
                 .icon = icon::terminal,
                 .why_not =
                     [](const ViewState& ui) {
                         if (std::string why = needs_any(ui); !why.empty()) return why;
                         return why_no_eval_command(ui);
                     },
                 .run =
                     [](Ui& ui) {
                         if (!save_recipe(ui)) return;
                         const std::string words = eval_command(ui, ui.selection.lab.file);
                         ImGui::SetClipboardText(words.c_str());
                         ui.toasts.add(
                             {.kind = ToastKind::done, .title = "Command copied", .detail = words});
                     }});
}

// The recipe as it is now, on the pinned batch.
WatchedRecipe watched_of(const ViewState& ui) {
    const LabChoice& lab = ui.selection.lab;
    WatchedRecipe one{
        .recipe = lab.active(), .split = lab.split, .first = lab.first, .examples = lab.examples};
    const std::vector<Intervention>& list = one.recipe.interventions;
    if (list.empty()) return one;
    one.name = intervention_title(list.front().name) + ", " + place_words(ui, list.front());
    if (list.size() > 1) one.name += fmt::format(" and {} more", list.size() - 1);
    return one;
}

std::string why_not_watched(const ViewState& ui) {
    if (std::string why = needs_model(ui); !why.empty()) return why;
    if (ui.status.task.is_mixer_alone || ui.status.task.is_bias_alone)
        return "There is no loss to measure: this file holds mixers or position biases alone.";
    if (ui.selection.lab.active().is_untouched()) return "There is no intervention that is on.";
    return why_not_watch(ui, watched_of(ui));
}

void add_watch(Actions& actions) {
    actions.add({.id = "lab.watch",
                 .name = "Watch recipe over training",
                 .sentence = "Measures what the interventions cost on the pinned batch at every "
                             "saved step, in Watched: those stored and those to come.",
                 .icon = icon::pin,
                 .why_not = why_not_watched,
                 .run = [](Ui& ui) { watch_over_training(ui, watched_of(ui)); }});
}

// What other workspaces offer for what is selected in them.
void add_openers(Actions& actions) {
    struct Opener {
        const char *id, *name, *sentence, *intervention;
        const char* symbol;
    };
    const Opener openers[] = {
        {"lab.zero_selected", "Take this bias away",
         "Measures in the Lab what the position bias of the selected layer and head is worth.",
         "zero", icon::flask},
        {"lab.off_selected", "Turn this head off",
         "Measures in the Lab what the selected head, or layer's mixer, adds.", "off", icon::flask},
        {"lab.rank_selected", "Lower its rank",
         "Measures in the Lab what the selected bias loses with fewer singular values.", "low-rank",
         icon::flask},
        {"lab.set_selected", "Change this value",
         "Gives the selected target and source another w, in the Lab.", "set", icon::flask}};
    for (const Opener& opener : openers)
        actions.add({.id = opener.id,
                     .name = opener.name,
                     .sentence = opener.sentence,
                     .icon = opener.symbol,
                     .why_not =
                         [name = std::string(opener.intervention)](const ViewState& ui) {
                             const InterventionInfo* const info =
                                 info_of({.name = name, .options = {}});
                             return info == nullptr ? std::string() : why_not_here(ui, *info);
                         },
                     .run =
                         [name = std::string(opener.intervention)](Ui& ui) {
                             add_intervention(ui, name);
                             ui.commands.send(ShowWorkspace{Workspace::lab});
                         }});
}

}  // namespace

void add_intervention(ViewState& ui, const std::string& name) {
    LabChoice& lab = ui.selection.lab;
    Intervention one{.name = name, .options = {}};
    const InterventionInfo* const info = info_of(one);
    if (info == nullptr) return;
    const auto layers = int64_t(ui.status.layers.size());
    const Cell& cell = ui.selection.cell;
    if (layers > 1) one.layer = std::clamp<int64_t>(cell.layer, 0, layers - 1);
    if (ui.status.mixer.heads > 1 && info->has_heads)
        one.head = std::clamp<int64_t>(cell.head, 0, ui.status.mixer.heads - 1);
    if (ui.selection.locked)
        set_region({cell.target, cell.target, cell.source, cell.source}, *info, one);
    lab.begin_edit("");
    lab.recipe.interventions.push_back(std::move(one));
    lab.chosen = lab.recipe.interventions.size() - 1;
}

void add_lab_actions(Actions& actions, const std::function<void()>& open_list) {
    actions.add({.id = "lab.add",
                 .name = "Add intervention",
                 .sentence = "Chooses a change of the model whose effect is measured at once.",
                 .icon = icon::plus,
                 .why_not = needs_model,
                 .run = [open_list](Ui& ui) {
                     open_list();
                     ui.commands.send(ShowWorkspace{Workspace::lab});
                 }});
    add_edits(actions);
    add_fits(actions);
    add_files(actions);
    add_watch(actions);
    add_openers(actions);
}

}  // namespace aft::app

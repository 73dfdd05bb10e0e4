#include "app/panels/lab/lab_inspector.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "app/panels/lab/lab_words.h"
#include "app/widgets/buttons.h"
#include "app/widgets/combo.h"
#include "app/widgets/fields.h"
#include "app/widgets/text.h"
#include "app/widgets/text_fields.h"
#include "core/outside.h"
#include "core/text.h"
#include "model/jobs/summary.h"
#include "viz/curves.h"

namespace aft::app {

namespace {

constexpr double kStrengths[] = {0.25, 0.5, 0.75, 1};

double number_of(const std::string& text) {
    double value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

std::string number_text(const InterventionOption& option, double value) {
    return option.is_real ? fmt::format("{}", value) : fmt::format("{}", std::llround(value));
}

// "all", 0, 1, ...; -1 = all.
void index_combo(PaneContext& ui, const WidgetName& name, int64_t count, int64_t& index) {
    std::vector<std::string> list = {"all##all"};
    for (int64_t i = 0; i < count; ++i) list.push_back(fmt::format("{0}##{0}", i));
    // Of a recipe for another model.
    if (index >= count) list.push_back(fmt::format("{0}: not in this model##{0}", index));
    int chosen = static_cast<int>(std::min(index, count) + 1);
    label_column(ui, name.words);
    if (!combo(ui, name, chosen, {.list = list, .tip = "Which of them it is done to."})) return;
    ui.selection.lab.begin_edit("");
    if (chosen <= count) index = chosen - 1;
}

}  // namespace

std::vector<Recipe> LabInspector::strength_recipes(const ViewState& ui) {
    const LabChoice& lab = ui.selection.lab;
    if (lab.chosen >= lab.recipe.interventions.size()) return {};
    Intervention one = lab.recipe.interventions[lab.chosen];
    const InterventionInfo* const info = info_of(one);
    if (info == nullptr || !info->has_strength || !why_not_fit(ui, one).empty()) return {};
    one.on = true;
    std::vector<Recipe> recipes;
    for (const double strength : kStrengths) {
        one.strength = strength;
        recipes.push_back({.interventions = {one}});
    }
    return recipes;
}

bool LabInspector::draw_path(PaneContext& ui, const InterventionOption& option,
                             std::string& value) {
    bool is_changed = false;
    if (asks_path_ && !ui.file_chosen.empty()) {
        value = std::exchange(ui.file_chosen, {});
        asks_path_ = false;
        is_changed = true;
    }
    const WidgetName name(intervention_title(option.key), option.key);
    is_changed |= bool(text_field(ui,
                                  {.name = name,
                                   .hint = option.empty,
                                   .width = ImGui::GetContentRegionAvail().x / ui.scale - 68,
                                   .mono = true,
                                   .tip = option.help},
                                  value));
    ImGui::SameLine(0, ui.px(8));
    if (button(ui, {.name = {"Runs for " + name.words, option.key + "_runs"},
                    .icon = icon::history,
                    .kind = ButtonKind::icon,
                    .tip = "Runs that were opened, and those in runs of this folder."})) {
        runs_.look();
        ImGui::OpenPopup("known runs");
    }
    if (const PopupScope popup(ui, "known runs"); popup.is_open()) {
        const std::vector<std::string> paths = runs_.paths(ui);
        ImGui::Dummy({ui.px(300), 0});
        if (paths.empty()) text(ui, "No run is known.", {text_size::hint, ui.theme.text3});
        for (const std::string& path : paths) {
            const Row line = row(ui, WidgetName::data(path), {.height = 26});
            text_at(ui, {line.min.x + ui.px(10), line.min.y + ui.px(5)}, shown_name(path),
                    {text_size::label, ui.theme.text1, Face::regular, ui.px(280)});
            if (!line.pressed) continue;
            value = path;
            is_changed = true;
            ImGui::CloseCurrentPopup();
        }
    }
    if (runs_.is_looking()) ui.want_frame_at(ui.time + 0.05);
    ImGui::SameLine(0, ui.px(4));
    if (button(ui, {.name = {"Choose " + name.words, "choose_" + option.key},
                    .icon = icon::folder,
                    .kind = ButtonKind::icon,
                    .tip = "Looks for a checkpoint or a run folder on the disk."})) {
        ui.file_chosen.clear();
        asks_path_ = true;
        ui.commands.send(BrowseFiles{.question = "Which model is it taken from?"});
    }
    return is_changed;
}

void LabInspector::draw_options(PaneContext& ui, const InterventionInfo& info, Intervention& one) {
    LabChoice& lab = ui.selection.lab;
    for (const InterventionOption& option : info.options) {
        const auto given = one.options.find(option.key);
        std::string value = given == one.options.end() ? option.standard : given->second;
        const WidgetName name(intervention_title(option.key), option.key);
        label_column(ui, name.words, 104, option.help);
        bool is_changed = false;
        if (option.is_path) {
            is_changed = draw_path(ui, option, value);
        } else if (option.is_text) {
            is_changed = bool(text_field(ui, {.name = name, .tip = option.help}, value));
        } else if (!option.choices.empty()) {
            std::vector<std::string> list;
            for (const std::string& choice : option.choices)
                list.push_back(fmt::format("{0}##{0}", choice));
            const auto at = std::find(option.choices.begin(), option.choices.end(), value);
            int chosen = int(at - option.choices.begin());
            is_changed = combo(ui, name, chosen, {.list = list, .tip = option.help});
            if (is_changed) value = option.choices.at(size_t(chosen));
        } else {
            double number = number_of(value);
            is_changed = drag_field(ui,
                                    {.name = name,
                                     .min = option.min,
                                     .max = option.max,
                                     .standard = number_of(option.standard),
                                     .integer = !option.is_real,
                                     .at_min = option.at_min,
                                     .tip = option.help,
                                     .drag_speed = option.is_real ? 0.02F : 0.2F},
                                    number);
            if (is_changed) value = number_text(option, number);
        }
        if (!is_changed) continue;
        lab.begin_edit(fmt::format("{} {}", lab.chosen, option.key));
        one.options[option.key] = value;
    }
}

void LabInspector::draw_chosen(Ui& ui) {
    LabChoice& lab = ui.selection.lab;
    if (lab.chosen >= lab.recipe.interventions.size()) return;
    Intervention one = lab.recipe.interventions[lab.chosen];
    const InterventionInfo* const info = info_of(one);
    if (info == nullptr) return;
    const std::string why_not = why_not_fit(ui, one);
    section(ui, WidgetName(intervention_title(one.name), "intervention"), {}, false);
    hint(ui, info->info.sentence);
    hint(ui, info->formula);
    if (!why_not.empty())
        text_wrapped(ui, "Does not fit: " + why_not + ".", text_size::hint, ui.theme.warn);
    index_combo(ui, "Layer##layer_of_chosen", int64_t(ui.status.layers.size()), one.layer);
    if (info->has_heads && ui.status.mixer.heads > 1)
        index_combo(ui, "Head##head_of_chosen", ui.status.mixer.heads, one.head);
    if (info->has_strength) {
        label_column(ui, "Strength", 104, "How far from the untouched to the changed model.");
        double percent = one.strength * 100;
        if (slider(ui,
                   {.name = "Strength##strength_of_chosen",
                    .min = 0,
                    .max = 100,
                    .standard = 100,
                    .decimals = 0,
                    .unit = "%",
                    .tip = "How far from the untouched to the changed model.",
                    .formula = "w + strength (w' - w)"},
                   percent)) {
            lab.begin_edit(fmt::format("{} strength", lab.chosen));
            one.strength = percent / 100;
        }
    }
    draw_options(ui, *info, one);
    lab.recipe.interventions[lab.chosen] = one;
    (void)action_button(ui, "lab.earlier", ButtonKind::icon);
    ImGui::SameLine(0, ui.px(4));
    (void)action_button(ui, "lab.later", ButtonKind::icon);
    ImGui::SameLine(0, ui.px(8));
    (void)action_button(ui, "lab.remove", ButtonKind::normal, "Remove");
}

void LabInspector::draw_batch(PaneContext& ui, const BatchLosses& losses) {
    LabChoice& lab = ui.selection.lab;
    section(ui, "Pinned batch##pinned_batch", {}, !lab.recipe.interventions.empty());
    label_column(ui, "Examples", 104, "How many examples the loss is measured on.");
    (void)drag_field(ui,
                     {.name = "Examples##examples",
                      .min = 2,
                      .max = 4096,
                      .standard = 64,
                      .integer = true,
                      .tip = "How many examples the loss is measured on: four times as many "
                             "halve its uncertainty.",
                      .drag_speed = 0.2F,
                      .on_release = true},
                     lab.examples);
    label_column(ui, "First index", 104, "The first example of the batch.");
    (void)drag_field(ui,
                     {.name = "First index##first_index",
                      .min = 0,
                      .max = 1e6,
                      .standard = 0,
                      .integer = true,
                      .tip = "The first example of the batch, from 0.",
                      .drag_speed = 0.2F,
                      .on_release = true},
                     lab.first);
    const auto& items = losses.items();
    const std::string& source = ui.status.config.data.source;
    key_value(ui, "Data##data", source.empty() ? "\u2013" : printable_line(source));
    key_value(ui, "Part##part", items.empty() ? "\u2013" : items.front()->split);
    key_value(ui, "Step##step", losses.step() < 0 ? "\u2013" : group_thousands(losses.step()));
    if (const std::string words = measured_words(ui, losses.step()); !words.empty()) {
        hint(ui, words);
        ui.recorder.item("value", ui.recorder.claim("Measured step##measured_step"), words);
    }
    const auto& before = lab.numbers.untouched;
    const auto& change = lab.numbers.together;
    const int decimals = change ? std::max(5, change_decimals(*change) + 1) : 5;
    const auto unit_beside = [&](bool has_value) {  // none behind a dash
        return has_value ? loss_unit(ui) : std::string();
    };
    const bool has_error = change && std::isfinite(change->standard_error);
    key_value(ui, "Untouched loss##untouched_loss",
              before ? fmt::format("{:.{}f}", *before, decimals) : "\u2013",
              unit_beside(before.has_value()));
    if (lab.recipe.interventions.empty()) return;
    // Their lines stand before they are measured: nothing moves then.
    key_value(ui, "Change##change", change ? signed_number(change->mean, decimals) : "\u2013",
              unit_beside(bool(change)));
    key_value(ui, "Standard error##standard_error",
              has_error ? fmt::format("{:.{}f}", change->standard_error, decimals) : "\u2013",
              unit_beside(has_error));
}

void LabInspector::draw_strength(PaneContext& ui, const BatchLosses& losses) {
    const std::vector<Recipe> recipes = strength_recipes(ui);
    if (recipes.empty()) return;
    section(ui, "Loss change over strength##loss_over_strength", loss_unit(ui) + " over %");
    std::vector<double> x{0}, y{0}, low{0}, high{0};
    bool has_errors = true;
    for (size_t i = 0; i < recipes.size(); ++i) {
        const LossChange change = losses.change(recipes[i]);
        if (!change) continue;
        const double half = shown_loss(ui, change->half_width_95());
        x.push_back(kStrengths[i] * 100);
        y.push_back(shown_loss(ui, change->mean));
        has_errors &= std::isfinite(half);
        low.push_back(y.back() - half);
        high.push_back(y.back() + half);
    }
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const ImVec2 size(ImGui::GetContentRegionAvail().x, ui.px(150));
    if (x.size() > 1) {
        viz::CurvePlot plot;
        plot.id = "loss over strength";
        plot.x_word = "strength, %";
        plot.unit = loss_unit(ui);
        plot.zero_line = true;
        viz::Curve curve;
        curve.x = x;
        curve.y = y;
        if (has_errors) curve.low = low, curve.high = high;
        curve.color = ui.theme.series[0];
        curve.dots = true;
        plot.curves.push_back(curve);
        plot.size = size;
        (void)viz::draw_curves(plot, ui);
    } else {
        const RecipeLosses* const first = losses.of(recipes.front());
        const bool is_refused = first != nullptr && !first->error.empty();
        hint(ui, is_refused ? first->error + "." : "Not measured yet.");
    }
    ImGui::SetCursorScreenPos(at);
    ImGui::Dummy(size);  // what stands below does not move when the plot comes
    if (x.size() > 1)
        ui.recorder.item("plot", ui.recorder.claim("Loss over strength##strength_plot"),
                         fmt::format("{} points", x.size()));
    hint(ui, "Of this intervention alone.");
}

void LabInspector::draw_recipe(Ui& ui) {
    LabChoice& lab = ui.selection.lab;
    section(ui, "Recipe##recipe");
    ImGui::PushTextWrapPos(0);
    for (const Intervention& one : lab.recipe.interventions)
        text(ui, recipe_line(one),
             {text_size::hint, one.on ? ui.theme.text1 : ui.theme.text3, Face::mono});
    ImGui::PopTextWrapPos();
    label_column(ui, "File", 60, "Where the recipe is saved, or read from.");
    (void)text_field(ui,
                     {.name = "Recipe file##recipe_file",
                      .hint = "recipe.json",
                      .width = ImGui::GetContentRegionAvail().x / ui.scale - 34,
                      .mono = true,
                      .tip = "Where the recipe is saved, or read from."},
                     lab.file);
    ImGui::SameLine(0, ui.px(8));
    (void)action_button(ui, "lab.browse_recipe", ButtonKind::icon);
    (void)action_button(ui, "lab.save_recipe", ButtonKind::normal, "Save");
    ImGui::SameLine(0, ui.px(6));
    (void)action_button(ui, "lab.open_recipe", ButtonKind::normal, "Open");
    (void)action_button(ui, "lab.copy_command", ButtonKind::normal, "Copy as command");
}

void LabInspector::draw(Ui& ui, const BatchLosses& losses) {
    if (!ui.has_model()) return;
    draw_chosen(ui);
    if (!ui.status.task.is_mixer_alone) {
        draw_batch(ui, losses);
        draw_strength(ui, losses);
    }
    draw_recipe(ui);
}

}  // namespace aft::app

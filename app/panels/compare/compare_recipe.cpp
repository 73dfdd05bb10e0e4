#include "app/panels/compare/compare_recipe.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "app/widgets/buttons.h"
#include "app/widgets/combo.h"
#include "app/widgets/text.h"
#include "app/widgets/text_fields.h"
#include "core/caught.h"
#include "model/jobs/recipe.h"

namespace aft::app {

std::string slot_id(const char* word, size_t index) {
    return fmt::format("{}_{}", word, static_cast<char>('a' + index));
}

WidgetName slot_name(const char* words, const char* id, const ComparedSlot& slot, size_t index) {
    return {fmt::format("{} {}", words, slot.letter), slot_id(id, index)};
}

void SlotRecipes::draw_file(PaneContext& ui, CompareSlot& choice) {
    ImGui::Dummy({ui.px(4), ui.px(4)});
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + ui.px(6));
    const TextEdit edit = text_field(ui,
                                     {.name = "Recipe file##recipe_file",
                                      .hint = "Recipe file (.json)",
                                      .icon = icon::flask,
                                      .width = 300,
                                      .problem = problem_,
                                      .tip = "Interventions as the Lab saves them."},
                                     file_);
    if (edit.is_changed) problem_.clear();
    ImGui::SameLine(0, ui.px(6));
    const bool uses = button(ui, {.name = "Use recipe##use_recipe",
                                  .why_not = file_.empty() ? "Type the file first." : "",
                                  .tip = "The slot's biases are those after its interventions.",
                                  .shown = "Use"});
    if ((uses || edit.is_submitted) && !file_.empty()) {
        problem_ = error_words([&] { choice.recipe = read_recipe(file_); }, plain_words);
        if (problem_.empty()) {
            choice.recipe_name = std::filesystem::path(file_).stem().string();
            ImGui::CloseCurrentPopup();
        }
    }
    if (problem_.empty()) return;
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + ui.px(6));
    text(ui, problem_, {text_size::hint, ui.theme.error});
    ui.recorder.item("hint", ui.recorder.claim("Recipe problem##recipe_problem"), problem_);
}

void SlotRecipes::draw_list(PaneContext& ui, CompareSlot& choice) {
    ImGui::Dummy({ui.px(380), 0});
    const auto line = [&](const WidgetName& name, std::string_view more, bool is_chosen) {
        const Row of = row(ui, name, {.height = 26, .selected = is_chosen});
        text_at(ui, {of.min.x + ui.px(10), of.min.y + ui.px(5)}, name.words,
                {text_size::label, ui.theme.text1});
        text_right(ui, {of.max.x - ui.px(10), of.min.y + ui.px(6)}, more,
                   {text_size::hint, ui.theme.text3, Face::regular, ui.px(220)});
        if (of.pressed) ImGui::CloseCurrentPopup();
        return of.pressed;
    };
    const auto take = [&](Recipe recipe) {
        choice.recipe = std::move(recipe);
        choice.recipe_name.clear();
    };
    if (line("As it is##untouched", "no intervention", choice.recipe.is_untouched())) take({});
    Recipe active = ui.selection.lab.active();
    if (!active.is_untouched()) {
        const std::string words = recipe_words({.recipe = active});
        if (line("As the Lab changes it##as_the_lab", words, choice.recipe == active))
            take(std::move(active));
    } else {
        ImGui::SetCursorPosX(ImGui::GetCursorPosX() + ui.px(10));
        hint(ui, "The Lab has no intervention that is on.");
    }
    draw_file(ui, choice);
    ImGui::Dummy({ui.px(4), ui.px(6)});
}

void SlotRecipes::draw(PaneContext& ui, const ComparedSlot& slot, size_t index) {
    const std::string popup = slot_id("recipe of slot", index);
    const std::string tip = slot.changes.empty()
                                ? "Interventions on this slot's biases: the Lab's or a file's."
                                : "Its biases are those after " + slot.changes + ".";
    if (button(ui, {.name = slot_name("Interventions", "interventions", slot, index),
                    .icon = icon::flask,
                    .kind = ButtonKind::icon,
                    .tip = tip})) {
        problem_.clear();
        ImGui::OpenPopup(popup.c_str());
    }
    const PopupScope scope(ui, popup.c_str());
    if (scope.is_open()) draw_list(ui, ui.selection.compare.slots[index]);
}

}  // namespace aft::app

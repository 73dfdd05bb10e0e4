#include "app/panels/compare/compare_recipe.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "app/widgets/buttons.h"
#include "app/widgets/combo.h"
#include "app/widgets/text.h"
#include "core/caught.h"
#include "model/jobs/recipe.h"
#include "model/system.h"

namespace aft::app {

std::string slot_id(const char* word, size_t index) {
    return fmt::format("{}_{}", word, static_cast<char>('a' + index));
}

WidgetName slot_name(const char* words, const char* id, const ComparedSlot& slot, size_t index) {
    return {fmt::format("{} {}", words, slot.letter), slot_id(id, index)};
}

void SlotRecipes::draw_file(PaneContext& ui, CompareSlot& choice) {
    const auto take = [&](const std::string& path) {
        return error_words([&] { choice.recipe = read_recipe(path); }, plain_words);
    };
    if (!file_.draw(ui,
                    {.field = "Recipe file##recipe_file",
                     .hint = "Recipe file (.json)",
                     .icon = icon::flask,
                     .tip = "Interventions as the Lab saves them.",
                     .button = "Use recipe##use_recipe",
                     .shown = "Use",
                     .button_tip = "The slot's biases are those after its interventions.",
                     .problem = "Recipe problem##recipe_problem"},
                    take))
        return;
    choice.recipe_name = std::filesystem::path(file_.path()).stem().string();
    ImGui::CloseCurrentPopup();
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
        file_.forget_problem();
        ImGui::OpenPopup(popup.c_str());
    }
    const PopupScope scope(ui, popup.c_str());
    if (scope.is_open()) draw_list(ui, ui.selection.compare.slots[index]);
}

}  // namespace aft::app

// Interventions: the list of what is changed in the model, in its order, with strength, on and off,
// and what each costs; below it the bias that the chosen one changes.
#include <fmt/format.h>

#include <algorithm>

#include "app/panels/lab/lab_actions.h"
#include "app/panels/lab/lab_maps.h"
#include "app/panels/lab/lab_words.h"
#include "app/panels/panel.h"
#include "app/panels/shared/model_state.h"
#include "app/widgets/buttons.h"
#include "app/widgets/combo.h"
#include "app/widgets/fields.h"
#include "app/widgets/text.h"

namespace aft::app {

PanelRoom interventions_panel();

namespace {

constexpr float kCardHeight = 78;

class InterventionsPanel final : public Panel {
  public:
    void draw(Ui& ui) override;
    void actions(Actions& list) override {
        add_lab_actions(list, [this] { opens_list_ = true; });
    }

  private:
    void draw_tools(Ui& ui);
    void draw_choices(PaneContext& ui);
    void draw_card(PaneContext& ui, size_t index);
    // How wide the change at the right is, pixels.
    static float draw_card_words(PaneContext& ui, size_t index, ImVec2 low, ImVec2 high);
    LabMaps maps_;
    bool opens_list_ = false;
};

void InterventionsPanel::draw_choices(PaneContext& ui) {
    const PopupScope popup(ui, "interventions");
    if (!popup.is_open()) return;
    for (const InterventionInfo& info : all_interventions()) {
        const std::string why = why_not_here(ui, info);
        const WidgetName name(intervention_title(info.info.name), "add_" + info.info.name);
        if (button(ui, {.name = name,
                        .kind = ButtonKind::ghost,
                        .why_not = why,
                        .tip = info.info.sentence + " " + info.formula,
                        .width = 260})) {
            add_intervention(ui, info.info.name);
            ImGui::CloseCurrentPopup();
        }
    }
}

void InterventionsPanel::draw_tools(Ui& ui) {
    // Without any, the result's pane has the filled one.
    const bool is_empty = ui.selection.lab.recipe.interventions.empty();
    (void)action_button(ui, "lab.add", is_empty ? ButtonKind::normal : ButtonKind::primary, "Add");
    if (std::exchange(opens_list_, false)) ImGui::OpenPopup("interventions");
    draw_choices(ui);
    ImGui::SameLine(0, ui.px(8));
    (void)action_button(ui, "lab.save_recipe", ButtonKind::normal, "Save recipe");
    ImGui::SameLine(0, ui.px(8));
    (void)action_button(ui, "lab.undo", ButtonKind::icon);
    ImGui::SameLine(0, ui.px(2));
    (void)action_button(ui, "lab.redo", ButtonKind::icon);
    (void)action_button(ui, "lab.watch", ButtonKind::normal, "Watch over training");
}

std::string words_of_change(const LabChoice& lab, size_t index) {
    const LossChange change =
        index < lab.numbers.each.size() ? lab.numbers.each[index] : LossChange();
    return change ? change_words(*change) : "\u2013";
}

float InterventionsPanel::draw_card_words(PaneContext& ui, size_t index, ImVec2 low, ImVec2 high) {
    LabChoice& lab = ui.selection.lab;
    const Intervention& one = lab.recipe.interventions[index];
    const ImU32 ink = one.on ? ui.theme.text1 : ui.theme.text3;
    text_at(ui, {low.x + ui.px(12), low.y + ui.px(9)}, std::to_string(index + 1),
            {text_size::label, ui.theme.text3});
    text_at(ui, {low.x + ui.px(34), low.y + ui.px(8)}, intervention_title(one.name),
            {text_size::label, ink, Face::medium});
    const bool fits = why_not_fit(ui, one).empty();
    text_at(ui, {low.x + ui.px(34), low.y + ui.px(28)},
            place_words(ui, one) + (fits ? "" : ": does not fit this model"),
            {text_size::hint, fits ? ui.theme.text2 : ui.theme.warn, Face::regular,
             high.x - low.x - ui.px(96)});
    const std::string words = words_of_change(lab, index);
    const float wide = text_extent(ui, words, text_size::label, Face::medium).x;
    text_at(ui, {high.x - ui.px(12) - wide, low.y + ui.px(51)}, words,
            {text_size::label, ink, Face::medium});
    return wide;
}

void InterventionsPanel::draw_card(PaneContext& ui, size_t index) {
    LabChoice& lab = ui.selection.lab;
    Intervention one = lab.recipe.interventions[index];
    const InterventionInfo* const info = info_of(one);
    const bool is_chosen = index == lab.chosen;
    const std::string number = std::to_string(index);
    ImGui::PushID(int(index));
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x;
    const ImVec2 high{at.x + width, at.y + ui.px(kCardHeight)};
    ImDrawList* const list = ImGui::GetWindowDrawList();
    list->AddRectFilled(at, high, is_chosen ? ui.theme.selected : ui.theme.raised, ui.px(4));
    if (is_chosen) list->AddRectFilled(at, {at.x + ui.px(2), high.y}, ui.theme.accent, ui.px(1));
    ImGui::SetNextItemAllowOverlap();
    const Region card =
        region(ui, "row",
               {fmt::format("{} {}", index + 1, intervention_title(one.name)), "card_" + number},
               {{width, ui.px(kCardHeight)}, place_words(ui, one)});
    if (card.pressed) lab.chosen = index;
    const float change = draw_card_words(ui, index, at, high);
    ImGui::SetCursorScreenPos({high.x - ui.px(40), at.y + ui.px(7)});
    if (toggle(ui, {"On", "on_" + number}, one.on, {.tip = "Off leaves it out of the recipe."})) {
        lab.begin_edit("");
        lab.recipe.interventions[index].on = one.on;
    }
    if (info != nullptr && info->has_strength) {
        ImGui::SetCursorScreenPos({at.x + ui.px(30), at.y + ui.px(46)});
        double percent = one.strength * 100;
        if (slider(ui,
                   {.name = {"Strength", "strength_" + number},
                    .min = 0,
                    .max = 100,
                    .standard = 100,
                    .decimals = 0,
                    .unit = "%",
                    .tip = "How far from the untouched to the changed model.",
                    .formula = "w + strength (w' - w)",
                    .width = (width / ui.scale) - std::max(112.0F, change / ui.scale + 54)},
                   percent)) {
            lab.begin_edit("strength " + number);
            lab.chosen = index;
            lab.recipe.interventions[index].strength = percent / 100;
        }
    }
    ImGui::SetCursorScreenPos(at);
    ImGui::Dummy({width, ui.px(kCardHeight)});
    ImGui::PopID();
    ImGui::Dummy({1, ui.px(2)});
}

void InterventionsPanel::draw(Ui& ui) {
    if (no_model_state(ui, Drawing::flask,
                       "Open a model to change its position biases and see what that costs."))
        return;
    LabChoice& lab = ui.selection.lab;
    if (!ImGui::IsAnyItemActive()) lab.history.end();
    draw_tools(ui);
    ImGui::Dummy({1, ui.px(4)});
    if (lab.recipe.interventions.empty()) {
        hint(ui,
             "Nothing is changed yet. Add an intervention, or choose \"Take this bias away\" "
             "for what is selected in Biases.");
        return;
    }
    for (size_t i = 0; i < lab.recipe.interventions.size(); ++i) draw_card(ui, i);
    maps_.draw(ui, lab.active());
}

}  // namespace

PanelRoom interventions_panel() {
    return {.info = {"Interventions", "What is changed in the model, in its order."},
            .id = "interventions",
            .icon = icon::flask,
            .help =
                "Changes of a copy of the model: of its position biases (take away, scale, "
                "blur, cut, copy, ...) or of its gates, keys and heads. Each has a strength "
                "and can be switched off; the list is done from top to bottom. The number at "
                "the right is what it does to the loss by itself. The model itself stays as "
                "it is.",
            .places = {{Workspace::lab, Slot::left, -1}},
            .make = make_panel<InterventionsPanel>};
}

}  // namespace aft::app

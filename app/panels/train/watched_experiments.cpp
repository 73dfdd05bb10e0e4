#include "app/panels/train/watched_experiments.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/widgets/buttons.h"
#include "app/widgets/text.h"
#include "app/widgets/text_fields.h"

namespace aft::app {
namespace {

struct ExperimentHead {
    const char* kind;  // in the ids of its controls
    size_t index;
    std::string words;
};

// Its name, what it is, and how to be rid of it. False: it is to go.
bool draw_head(PaneContext& ui, const ExperimentHead& head, std::string& name) {
    const std::string id = fmt::format("{}_{}", head.kind, head.index);
    (void)text_field(ui,
                     {.name = {"Name", id + "_name"},
                      .hint = "what it is called",
                      .width = 240,
                      .tip = "What this experiment is called here."},
                     name);
    ImGui::SameLine(0, ui.px(4));
    const bool is_removed = button(ui, {.name = {"Remove", id + "_remove"},
                                        .icon = icon::trash,
                                        .kind = ButtonKind::icon,
                                        .tip = "Measures it no more. The run stays as it is."});
    ImGui::SameLine(0, ui.px(12));
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float available = std::max(1.0F, ImGui::GetContentRegionAvail().x);
    text_at(ui, {at.x, at.y + ui.px(5)}, head.words,
            {text_size::hint, ui.theme.text2, Face::regular, available});
    ImGui::NewLine();
    return !is_removed;
}

}  // namespace

void WatchedExperiments::update(PaneContext& ui, bool may_ask) {
    Experiments& experiments = ui.experiments;
    recipes_.resize(experiments.recipes.size());
    strips_.resize(experiments.completions.size());
    is_measuring_ = false;
    for (size_t i = 0; i < recipes_.size(); ++i) {
        WatchedRecipe& one = experiments.recipes[i];
        is_measuring_ |= !recipes_[i].update(ui, one, may_ask && !is_measuring_);
        // None counts twice: the standard error would be too small.
        if (const int64_t all = recipes_[i].part_size(); all > 1)
            one.examples = std::min(one.examples, all);
    }
    bool is_completing = false;  // these do not wait for the losses: they are not of the same queue
    for (size_t i = 0; i < strips_.size(); ++i)
        is_completing |= !strips_[i].update(ui, experiments.completions[i], !is_completing);
    is_measuring_ |= is_completing;
}

void WatchedExperiments::draw(PaneContext& ui) {
    Experiments& all = ui.experiments;
    if (all.is_empty() || ui.session == nullptr) return;
    const size_t saved = ui.session->saved_steps().size();
    section(ui, "Standing experiments##experiments");
    const std::string count = fmt::format("{} of {}", saved, ui.history.size());
    if (saved > 0) hint(ui, "Measured where the weights are saved: " + count + " stored steps.");
    ui.recorder.item("value", ui.recorder.claim("Saved steps##saved_steps"), count);
    if (saved == 0)
        hint(ui, "No step has its weights saved yet: Save writes those of the present one.");
    for (size_t i = 0; i < std::min(all.recipes.size(), recipes_.size()); ++i) {
        if (!draw_head(ui, {"recipe", i, recipe_words(ui, all.recipes[i])}, all.recipes[i].name)) {
            all.recipes.erase(all.recipes.begin() + ptrdiff_t(i));
            recipes_.erase(recipes_.begin() + ptrdiff_t(i));
            break;
        }
        draw_recipe_costs(ui, recipes_[i], i);
        ImGui::Dummy({1, ui.px(8)});
    }
    for (size_t i = 0; i < std::min(all.completions.size(), strips_.size()); ++i) {
        WatchedCompletion& one = all.completions[i];
        if (!draw_head(ui, {"completion", i, completion_words(one)}, one.name)) {
            all.completions.erase(all.completions.begin() + ptrdiff_t(i));
            strips_.erase(strips_.begin() + ptrdiff_t(i));
            break;
        }
        strips_[i].draw(ui, one, i);
        ImGui::Dummy({1, ui.px(8)});
    }
}

}  // namespace aft::app

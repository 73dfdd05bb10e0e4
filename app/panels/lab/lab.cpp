// Result: what the interventions do to the loss of the pinned batch, with its uncertainty, and to
// completions under the same random numbers.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "app/panels/lab/lab_completions.h"
#include "app/panels/lab/lab_figure.h"
#include "app/panels/lab/lab_inspector.h"
#include "app/panels/lab/lab_words.h"
#include "app/panels/panel.h"
#include "app/panels/shared/model_state.h"
#include "app/widgets/states.h"
#include "app/widgets/text.h"
#include "core/text.h"

namespace aft::app {

PanelRoom lab_panel();

namespace {

class LabPanel final : public Panel {
  public:
    void draw(Ui& ui) override;
    void inspector(Ui& ui) override { inspector_.draw(ui, losses_); }

  private:
    void measure(PaneContext& ui);
    void take_numbers(ViewState& ui);
    [[nodiscard]] bool problem(Ui& ui) const;
    void draw_classes(DrawContext& ui);
    void draw_caption(PaneContext& ui) const;
    BatchLosses losses_;
    LabCompletions completions_;
    LabInspector inspector_;
    Recipe active_;
};

// In the order of their use: the whole recipe, then each by itself, then the curve over strength.
void LabPanel::measure(PaneContext& ui) {
    const LabChoice& lab = ui.selection.lab;
    active_ = lab.active();
    std::vector<Recipe> wanted = {{}};
    if (!active_.is_untouched()) wanted.push_back(active_);
    for (Intervention one : lab.recipe.interventions) {
        if (!why_not_fit(ui, one).empty()) continue;
        one.on = true;
        wanted.push_back({.interventions = {one}});
    }
    for (Recipe& recipe : LabInspector::strength_recipes(ui)) wanted.push_back(std::move(recipe));
    if (const auto batch = pinned_batch(ui)) losses_.update(ui, *batch, wanted);
    clamp_batch(ui, losses_.part_size());
    take_numbers(ui);
}

void LabPanel::take_numbers(ViewState& ui) {
    LabChoice& lab = ui.selection.lab;
    const auto shown = [&](LossChange change) {
        if (!change) return change;
        change->mean = shown_loss(ui, change->mean);
        change->standard_error = shown_loss(ui, change->standard_error);
        return change;
    };
    LabNumbers numbers;
    for (Intervention one : lab.recipe.interventions) {
        one.on = true;
        numbers.each.push_back(shown(losses_.change({.interventions = {one}})));
    }
    const RecipeLosses* const before = losses_.of({});
    if (before != nullptr && !before->nats.empty())
        numbers.untouched =
            shown_loss(ui, std::accumulate(before->nats.begin(), before->nats.end(), 0.0) /
                               double(before->nats.size()));
    const RecipeLosses* const after = active_.is_untouched() ? nullptr : losses_.of(active_);
    if (after != nullptr) numbers.together = shown(losses_.change(active_));
    numbers.measured = int64_t(after != nullptr    ? after->nats.size()
                               : before != nullptr ? before->nats.size()
                                                   : 0);
    lab.problem = after != nullptr && !after->error.empty() ? after->error
                  : before != nullptr                       ? before->error
                                                            : "";
    lab.numbers = std::move(numbers);
}

// Something stands in the way of measuring: says what, and what to do.
bool LabPanel::problem(Ui& ui) const {
    if (const std::string words = unfit_words(ui, ui.selection.lab.recipe); !words.empty()) {
        banner(ui, {.title = "This recipe is for another model",
                    .sentence = words + " Take out what does not fit, or choose other layers.",
                    .actions = {"lab.remove_unfit", "lab.fit_layers"}});
        if (!unfit_words(ui, active_).empty()) return true;
    }
    if (!ui.selection.lab.problem.empty()) {
        const RecipeLosses* const before = losses_.of({});
        const bool is_model = before != nullptr && !before->error.empty();
        banner(ui,
               {.title = is_model ? "The loss cannot be measured" : "This recipe cannot be applied",
                .sentence = ui.selection.lab.problem + "."});
        return true;
    }
    if (!lab_step(ui)) {
        banner(ui, {.kind = ToastKind::info,
                    .title = "Nothing is saved yet",
                    .sentence = "While training runs, the Lab measures the newest saved step. "
                                "Save, or pause the training.",
                    .actions = {"run.save"}});
        return true;
    }
    if (losses_.item_error().empty()) return false;
    Banner spec{.title = "The data of this model are not here",
                .sentence = losses_.item_error() + "."};
    if (ui.status.config.data.source.empty()) {
        spec.kind = ToastKind::info;
        spec.title = "No data are known for this model";
        spec.sentence = "Choose those whose loss is to be measured.";
    }
    if (ui.actions.why_not(ui, "file.choose_data").empty())
        spec.actions.push_back("file.choose_data");
    banner(ui, spec);
    return true;
}

// A classifier completes nothing: how many answers change.
void LabPanel::draw_classes(DrawContext& ui) {
    const RecipeLosses *const before = losses_.of({}), *const after = losses_.of(active_);
    section(ui, "Answers##answers", {}, false);
    const size_t n = before == nullptr || after == nullptr
                         ? 0
                         : std::min(before->right.size(), after->right.size());
    if (n == 0) return hint(ui, "Counted when both models are measured.");
    size_t was = 0, is = 0, lost = 0, won = 0;
    for (size_t i = 0; i < n; ++i) {
        const bool a = before->right[i] > 0, b = after->right[i] > 0;
        was += a;
        is += b;
        lost += a && !b;
        won += b && !a;
    }
    const auto share = [&](size_t count) {
        return fmt::format("{:.1f} %", 100.0 * double(count) / double(n));
    };
    key_value(ui, "Right, untouched##right_untouched", share(was), fmt::format("of {}", n));
    key_value(ui, "Right, changed##right_changed", share(is), fmt::format("of {}", n));
    key_value(ui, "Right before, wrong now##lost", std::to_string(lost));
    key_value(ui, "Wrong before, right now##won", std::to_string(won));
}

// Of which model the completions are: on a line of its own where the title leaves too little.
void LabPanel::draw_caption(PaneContext& ui) const {
    const char* const title = "Completions under the same random numbers";
    const std::string step = losses_.step() < 0 ? "" : ", step " + group_thousands(losses_.step());
    const CompletionChoice& choice = ui.selection.completion;
    const std::string words =
        fmt::format("{}{}, seed {}{}", ui.status.name, step, choice.sample.seed,
                    has_painted_mask(ui) ? ", mask of Complete" : "");
    const float needed = text_extent(ui, title, text_size::label, Face::semibold).x + ui.px(14) +
                         text_extent(ui, words, text_size::hint).x;
    const bool fits = needed <= ImGui::GetContentRegionAvail().x;
    text(ui, title, {text_size::label, ui.theme.text1, Face::semibold});
    if (fits) ImGui::SameLine(0, ui.px(14));
    text(ui, words,
         {text_size::hint, ui.theme.text2, Face::regular, ImGui::GetContentRegionAvail().x});
    ui.recorder.item("value", ui.recorder.claim("Completed model##completed_model"), words);
}

void LabPanel::draw(Ui& ui) {
    if (no_model_state(ui, Drawing::flask,
                       "Open a model to change its position biases and see what that costs."))
        return;
    if (ui.status.task.is_mixer_alone) {
        empty_state(ui, {.drawing = Drawing::flask,
                         .title = "There is no loss to measure",
                         .sentence = "This file holds mixers or position biases alone. Their "
                                     "biases can be changed, and the pane at the left shows them "
                                     "before and after.",
                         .primary = ui.selection.lab.recipe.interventions.empty() ? "lab.add" : "",
                         .secondary = {},
                         .hint = {}});
        return;
    }
    measure(ui);
    if (problem(ui)) return;
    if (ui.selection.lab.recipe.interventions.empty()) {
        empty_state(ui, {.drawing = Drawing::flask,
                         .title = "Nothing changed yet",
                         .sentence = "Add an intervention to see what it does to the loss.",
                         .primary = "lab.add",
                         .secondary = {},
                         .hint = {}});
        return;
    }
    draw_lab_figure(ui, losses_, active_);
    hairline(ui);
    if (!ui.status.task.is_autoregressive) return draw_classes(ui);
    draw_caption(ui);
    completions_.draw(ui, losses_.items(), active_);
}

}  // namespace

PanelRoom lab_panel() {
    return {.info = {"Result", "What the interventions do to the loss and to completions."},
            .id = "result",
            .icon = icon::flask,
            .help =
                "The mean change of the loss on the pinned batch, with the interval that "
                "holds it with 95 %: of the differences example by example, so that the "
                "spread between examples does not count. Beside it every intervention by "
                "itself. Below: the same pictures completed by the untouched and the changed "
                "model under the same random numbers, with the mask of Complete.",
            .places = {{Workspace::lab, Slot::canvas}},
            .make = make_panel<LabPanel>};
}

}  // namespace aft::app

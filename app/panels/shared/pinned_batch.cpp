#include "app/panels/shared/pinned_batch.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/panels/shared/copy_command.h"
#include "app/panels/shared/whole_step.h"
#include "core/text.h"
#include "model/model_files.h"

namespace aft::app {

std::optional<MeasuredStep> lab_step(const ViewState& ui) {
    const bool is_live = ui.selection.step < 0;
    const int64_t step = whole_step(ui);
    if (!is_live) return MeasuredStep{.asked = step, .weights = step};
    if (ui.status.state != RunState::running || ui.status.following)
        return MeasuredStep{.asked = -1, .weights = step};
    const std::vector<int64_t> saved = ui.session->saved_steps();
    if (saved.empty()) return std::nullopt;
    return MeasuredStep{.asked = saved.back(), .weights = saved.back()};
}

std::string measured_words(const ViewState& ui, int64_t measured) {
    if (measured < 0 || measured == ui.shown_step()) return "";
    const std::string step = group_thousands(measured), shown = group_thousands(ui.shown_step());
    if (ui.selection.step >= 0)
        return fmt::format("Costs are of step {}, the saved one nearest to step {}.", step, shown);
    return fmt::format("Costs are of step {}, the newest saved one: training is at step {}.", step,
                       shown);
}

std::optional<LossBatch> pinned_batch(const ViewState& ui) {
    const auto step = lab_step(ui);
    if (!step) return std::nullopt;
    const LabChoice& lab = ui.selection.lab;
    return LossBatch{.path = ui.status.path,
                     .data = ui.status.config.data.source,
                     .split = lab.split,
                     .step = *step,
                     .first = lab.first,
                     .examples = lab.examples};
}

void clamp_batch(ViewState& ui, int64_t all) {
    if (all < 2) return;
    int64_t& examples = ui.selection.lab.examples;
    examples = std::min(examples, all);
    if (Undoable* const seen = ui.selection.changes.seen())
        seen->batch.examples = std::min(seen->batch.examples, all);
}

std::string why_no_eval_command(const ViewState& ui) {
    if (ui.status.path.empty() || ui.status.config.data.source.empty())
        return "The data of this model are not known.";
    const auto step = lab_step(ui);
    return step ? why_no_command(ui, step->weights)
                : "Nothing is saved yet: save, or pause the training.";
}

std::string eval_command(const ViewState& ui, const std::string& recipe_file) {
    const LabChoice& lab = ui.selection.lab;
    const auto step = lab_step(ui);
    if (!step || !why_no_eval_command(ui).empty()) return "";
    std::string words = fmt::format(
        "afterimage eval {} --data {} --recipe {} --index {} --limit {}",
        shell_word(checkpoint_file(ui.status.path, step->weights)),
        shell_word(ui.status.config.data.source), shell_word(recipe_file), lab.first, lab.examples);
    if (!lab.split.empty()) words += " --split " + shell_word(lab.split);
    return words;
}

}  // namespace aft::app

#include "app/panels/shared/pinned_batch.h"

#include <fmt/format.h>

#include "core/text.h"

namespace aft::app {

std::optional<int64_t> lab_step(const ViewState& ui) {
    if (ui.selection.step >= 0) return ui.selection.step;
    if (ui.status.state != RunState::running || ui.status.following) return -1;
    const std::vector<int64_t> saved = ui.session->saved_steps();
    if (saved.empty()) return std::nullopt;
    return saved.back();
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

std::string eval_command(const ViewState& ui, const std::string& recipe_file) {
    const LabChoice& lab = ui.selection.lab;
    if (ui.status.path.empty() || ui.status.config.data.source.empty() || recipe_file.empty())
        return "";
    std::string words =
        fmt::format("afterimage eval {} --data {} --recipe {} --index {} --limit {}",
                    shell_word(ui.status.path), shell_word(ui.status.config.data.source),
                    shell_word(recipe_file), lab.first, lab.examples);
    if (!lab.split.empty()) words += " --split " + shell_word(lab.split);
    return words;
}

}  // namespace aft::app

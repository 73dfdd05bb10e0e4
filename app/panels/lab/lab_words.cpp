#include "app/panels/lab/lab_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/rooms.h"
#include "core/text.h"
#include "model/jobs/recipe.h"

namespace aft::app {

const std::vector<InterventionInfo>& all_interventions() {
    static const std::vector<InterventionInfo> list = intervention_list();
    return list;
}

const InterventionInfo* info_of(const Intervention& one) {
    return room_named(all_interventions(), one.name);
}

std::string intervention_title(const std::string& name) {
    std::string words = name;
    for (char& c : words)
        if (c == '-' || c == '_') c = ' ';
    if (!words.empty()) words[0] = static_cast<char>(std::toupper(words[0]));
    return words;
}

std::string place_words(const ViewState& ui, const Intervention& one) {
    std::string words = one.layer < 0 ? "all layers" : fmt::format("layer {}", one.layer);
    const InterventionInfo* const info = info_of(one);
    if (ui.status.mixer.heads > 1 && info != nullptr && info->has_heads)
        words += one.head < 0 ? ", all heads" : fmt::format(", head {}", one.head);
    for (const auto& [key, value] : one.options)
        if (!value.empty()) words += fmt::format(", {} {}", key, value);
    return words;
}

Recipe lab_active(const LabChoice& lab) {
    Recipe recipe;
    for (const Intervention& one : lab.recipe.interventions)
        if (one.on) recipe.interventions.push_back(one);
    return recipe;
}

std::string why_not_here(const ViewState& ui, const InterventionInfo& info) {
    if (!ui.has_model()) return "No model is open.";
    if (!info.edits_bias)
        return ui.status.task.is_bias_alone ? "This file holds position biases alone." : "";
    return ui.status.mixer.has_bias() ? "" : "This model has no position bias.";
}

int change_decimals(const PairedChange& change) {
    const double half = change.half_width_95();
    if (!std::isfinite(half) || half <= 0) return 3;
    return std::clamp(static_cast<int>(std::ceil(-std::log10(half))) + 1, 3, 6);
}

std::string change_words(const PairedChange& change) {
    if (!std::isfinite(change.mean)) return "not finite";
    const std::string digits =
        fmt::format("{:.{}f}", std::abs(change.mean), change_decimals(change));
    const bool is_zero = digits.find_first_not_of("0.") == std::string::npos;
    return (is_zero ? "" : change.mean < 0 ? "\u2212" : "+") + digits;
}

std::optional<int64_t> lab_step(const ViewState& ui) {
    if (ui.selection.step >= 0) return ui.selection.step;
    if (ui.status.state != RunState::running || ui.status.following) return -1;
    const std::vector<int64_t> saved = ui.session->saved_steps();
    if (saved.empty()) return std::nullopt;
    return saved.back();
}

std::string eval_command(const ViewState& ui) {
    const LabChoice& lab = ui.selection.lab;
    if (ui.status.path.empty() || ui.status.config.data.source.empty() || lab.file.empty())
        return "";
    std::string words =
        fmt::format("afterimage eval {} --data {} --recipe {} --index {} --limit {}",
                    shell_word(ui.status.path), shell_word(ui.status.config.data.source),
                    shell_word(lab.file), lab.first, lab.examples);
    if (!lab.split.empty()) words += " --split " + lab.split;
    return words;
}

}  // namespace aft::app

#include "app/panels/lab/lab_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/panels/shared/bias_map.h"

namespace aft::app {

// "first_source": "first source".
static std::string spaced(std::string words) {
    for (char& c : words)
        if (c == '-' || c == '_') c = ' ';
    return words;
}

std::string intervention_title(const std::string& name) {
    std::string words = spaced(name);
    if (!words.empty()) words[0] = static_cast<char>(std::toupper(words[0]));
    return words;
}

std::string place_words(const ViewState& ui, const Intervention& one) {
    std::string words = one.layer < 0 ? "all layers" : fmt::format("layer {}", one.layer);
    const InterventionInfo* const info = info_of(one);
    if (ui.status.mixer.heads > 1 && info != nullptr && info->has_heads)
        words += one.head < 0 ? ", all heads" : fmt::format(", head {}", one.head);
    for (const auto& [key, value] : one.options)
        if (const std::string said = option_words(one, key, value); !said.empty())
            words += fmt::format(", {} {}", spaced(key), said);
    return words;
}

std::string why_not_here(const ViewState& ui, const InterventionInfo& info) {
    if (!ui.has_model()) return "No model is open.";
    if (!info.edits_bias)
        return ui.status.task.is_bias_alone ? "This file holds position biases alone." : "";
    return ui.status.mixer.has_bias() ? "" : "This model has no position bias.";
}

// Of the layer's maps and heads, whichever are more: the model itself says the last word.
static int64_t heads_of(const ViewState& ui, int64_t layer) {
    return std::max<int64_t>(ui.status.mixer.heads, BiasForm(ui.status, layer).heads);
}

std::string why_not_fit(const ViewState& ui, const Intervention& one) {
    const InterventionInfo* const info = info_of(one);
    if (info == nullptr) return fmt::format("there is no intervention '{}'", one.name);
    if (std::string why = why_not_here(ui, *info); !why.empty())
        return why.substr(0, why.size() - 1);
    const auto layers = int64_t(ui.status.layers.size());
    if (one.layer >= layers)
        return fmt::format("layer {} is not in this model: 0 to {}", one.layer, layers - 1);
    if (const int64_t heads = heads_of(ui, one.layer); one.head >= heads)
        return fmt::format("head {} is not in this model: 0 to {}", one.head, heads - 1);
    return "";
}

Intervention fitted(const ViewState& ui, Intervention one) {
    one.layer = std::min(one.layer, int64_t(ui.status.layers.size()) - 1);
    one.head = std::min(one.head, heads_of(ui, one.layer) - 1);
    return one;
}

std::string unfit_words(const ViewState& ui, const Recipe& recipe) {
    std::string words;
    for (size_t i = 0; i < recipe.interventions.size(); ++i) {
        const Intervention& one = recipe.interventions[i];
        if (const std::string why = why_not_fit(ui, one); !why.empty())
            words += fmt::format("{}Intervention {} ({}): {}.", words.empty() ? "" : " ", i + 1,
                                 intervention_title(one.name), why);
    }
    return words;
}

int change_decimals(const PairedChange& change) {
    constexpr double kLeast = 5e-7;  // less is 0 in six decimals
    const double half = change.half_width_95();
    const bool is_zero = half < kLeast && std::abs(change.mean) < kLeast;
    if (is_zero) return 3;
    if (!std::isfinite(half) || half <= 0) return 5;  // of one example: no error says how many
    return std::clamp(static_cast<int>(std::ceil(-std::log10(half))) + 1, 3, 6);
}

std::string change_words(const PairedChange& change) {
    if (!std::isfinite(change.mean)) return "not finite";
    const std::string digits =
        fmt::format("{:.{}f}", std::abs(change.mean), change_decimals(change));
    const bool is_zero = digits.find_first_not_of("0.") == std::string::npos;
    return (is_zero ? "" : change.mean < 0 ? "\u2212" : "+") + digits;
}

}  // namespace aft::app

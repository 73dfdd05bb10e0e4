#include "app/panels/shared/intervention_words.h"

#include <fmt/format.h>

#include <charconv>

#include "core/rooms.h"
#include "model/jobs/recipe.h"

namespace aft::app {

const std::vector<InterventionInfo>& all_interventions() {
    static const std::vector<InterventionInfo> list = intervention_list();
    return list;
}

const InterventionInfo* info_of(const Intervention& one) {
    return room_named(all_interventions(), one.name);
}

std::string option_words(const Intervention& one, const std::string& key,
                         const std::string& value) {
    const InterventionInfo* const info = info_of(one);
    if (info == nullptr) return value;
    for (const InterventionOption& option : info->options) {
        if (option.key != key) continue;
        if (option.is_text) return value.empty() ? option.empty : value;
        double number = 0;
        const auto read = std::from_chars(value.data(), value.data() + value.size(), number);
        const bool has_words =
            !option.at_min.empty() && read.ec == std::errc() && number <= option.min;
        return has_words ? option.at_min : value;
    }
    return value;
}

std::string recipe_line(const Intervention& one) {
    std::string words = (one.on ? "" : "# ") + one.name;
    if (one.layer >= 0) words += fmt::format(" layer={}", one.layer);
    if (one.head >= 0) words += fmt::format(" head={}", one.head);
    for (const auto& [key, value] : one.options)
        words += fmt::format(" {}={}", key, option_words(one, key, value));
    if (one.strength != 1) words += fmt::format(" x{:.2f}", one.strength);
    return words;
}

}  // namespace aft::app

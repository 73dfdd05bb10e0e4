#include "app/panels/shared/lock_words.h"

#include <fmt/format.h>

#include "core/text.h"

namespace aft::app {

std::string step_words(const ViewState& ui, const FieldSetPtr& fields) {
    const int64_t step =
        fields && !fields->fields.empty() ? fields->fields.front().step : ui.shown_weights();
    return fmt::format("{}, step {}", ui.status.name, group_thousands(std::max<int64_t>(0, step)));
}

std::string lock_words(const ViewState& ui, std::string_view hover_words) {
    if (!ui.selection.locked) return std::string(hover_words);
    return ui.selection.hover ? "Preview; the locked one comes back outside. Esc unlocks"
                              : "Locked. Esc unlocks";
}

}  // namespace aft::app

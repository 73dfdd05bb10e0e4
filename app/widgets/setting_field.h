// Setting fields: edit one row of a config, alone or in a line with its label. Conventions:
// buttons.h. Window thread, inside a frame.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "app/state/draw_context.h"
#include "core/settings.h"

namespace aft::app {

// The control for one visit() row: drag field, drop-down, switch or text. `standard` = text of the
// preset's value. Returns the new value as text, empty optional if unchanged.
std::optional<std::string> setting_field(DrawContext& ui, const Setting& row,
                                         const std::string& standard, std::string why_not = {});
// Its label and its control, in one line.
struct SettingRowLook {
    float column = 116;      // of the label, at scale 1
    bool is_narrow = false;  // shorter label
    std::string why_not{};
};
std::optional<std::string> setting_row(DrawContext& ui, const Setting& row,
                                       const std::string& standard, const SettingRowLook& look);
// "train.bias_learning_rate" -> "Bias learning rate"; in a narrow column "Bias rate".
[[nodiscard]] std::string setting_label(std::string_view key, bool is_narrow = false);

}  // namespace aft::app

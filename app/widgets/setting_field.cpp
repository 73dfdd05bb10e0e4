#include "app/widgets/setting_field.h"

#include <algorithm>
#include <cctype>

#include "app/widgets/buttons.h"
#include "app/widgets/combo.h"
#include "app/widgets/fields.h"
#include "app/widgets/number_text.h"
#include "app/widgets/part_list.h"
#include "app/widgets/text.h"
#include "app/widgets/text_fields.h"

namespace aft::app {

namespace {

// Words for a person; the key is the control's id.
WidgetName setting_name(const std::string& key) {
    return {setting_label(key), key};
}

std::optional<std::string> choice_field(DrawContext& ui, const Setting& row,
                                        const std::string& why_not) {
    const std::string now = value_text(row);
    const auto found = std::find(row.choices.begin(), row.choices.end(), now);
    int chosen = found == row.choices.end() ? -1 : static_cast<int>(found - row.choices.begin());
    if (!combo(ui, setting_name(row.key), chosen,
               {.list = row.choices, .why_not = why_not, .tip = row.help}))
        return std::nullopt;
    return row.choices[static_cast<size_t>(chosen)];
}

std::optional<std::string> number_field(DrawContext& ui, const Setting& row,
                                        const std::string& standard, const std::string& why_not) {
    NumberField field{.name = setting_name(row.key), .min = row.min, .max = row.max};
    field.integer = std::holds_alternative<int64_t*>(row.value);
    field.at_min = row.at_min;
    field.why_not = why_not;
    field.tip = row.help;
    field.on_release = true;
    std::string ignored;
    if (const auto value = parse_number({.name = ""}, standard, ignored)) field.standard = *value;
    double value = field.integer ? static_cast<double>(*std::get<int64_t*>(row.value))
                                 : *std::get<double*>(row.value);
    field.logarithmic = !field.integer && value > 0 && value < 0.05;
    if (row.at_min.empty() || value > row.min) field.unit = row.unit;  // none behind words
    if (!drag_field(ui, field, value)) return std::nullopt;
    field.at_min.clear();  // a config has numbers
    return typed_number(field, value);
}

}  // namespace

std::optional<std::string> setting_field(DrawContext& ui, const Setting& row,
                                         const std::string& standard, std::string why_not) {
    if (std::holds_alternative<bool*>(row.value)) {
        bool on = *std::get<bool*>(row.value);
        if (!toggle(ui, setting_name(row.key), on, {{}, why_not, row.help})) return std::nullopt;
        return on ? "true" : "false";
    }
    if (!std::holds_alternative<std::string*>(row.value))
        return number_field(ui, row, standard, why_not);
    if (!row.choices.empty()) return choice_field(ui, row, why_not);
    std::string text = *std::get<std::string*>(row.value);
    TextField field{.name = setting_name(row.key), .why_not = why_not, .tip = row.help};
    if (row.parts.empty()) return text_field(ui, field, text) ? std::optional(text) : std::nullopt;
    field.width = ImGui::GetContentRegionAvail().x / ui.scale - kPartListWidth - 4;
    const bool is_typed = text_field(ui, field, text).is_changed;
    ImGui::SameLine(0, ui.px(4));
    const auto chosen = part_list(
        ui, {.name = field.name, .parts = row.parts, .why_not = why_not, .tip = row.help}, text);
    return chosen ? chosen : is_typed ? std::optional(text) : std::nullopt;
}

std::optional<std::string> setting_row(DrawContext& ui, const Setting& row,
                                       const std::string& standard, const SettingRowLook& look) {
    label_column(ui, setting_label(row.key, look.is_narrow), look.column, row.help);
    return setting_field(ui, row, standard, look.why_not);
}

std::string setting_label(std::string_view key, bool is_narrow) {
    std::string words(key.substr(key.find('.') + 1));
    std::replace(words.begin(), words.end(), '_', ' ');
    const size_t rate = words.find(" learning rate");
    if (is_narrow && rate != std::string::npos) words.replace(rate, 14, " rate");
    if (!words.empty())
        words[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(words[0])));
    return words;
}

}  // namespace aft::app

// The tables below the maps of Compare: largest changes, layers, matched heads, and the settings
// that differ. A pressed row selects what it tells of. Window thread, inside a frame.
#pragma once
#include <optional>

#include "app/panels/compare/compare_numbers.h"

namespace aft::app {

// The cell of the pressed row.
[[nodiscard]] std::optional<Cell> changes_table(PaneContext& ui, const CompareSlots& slots,
                                                const CompareNumbers& numbers);
[[nodiscard]] std::optional<Cell> layers_table(PaneContext& ui, const CompareSlots& slots,
                                               const CompareNumbers& numbers);
[[nodiscard]] std::optional<Cell> heads_table(PaneContext& ui, const CompareSlots& slots,
                                              const CompareNumbers& numbers);

struct DifferingSetting {
    std::string key;
    std::vector<std::string> values;  // of each config
};
// Rows of the settings that are not the same in all; those that none of them reads are left out.
[[nodiscard]] std::vector<DifferingSetting> differing_settings(
    const std::vector<const Config*>& configs);
void settings_table(PaneContext& ui, const CompareSlots& slots);

// "Layer 3 of 12" while numbers are on their way; why there are none; "" = all are there.
[[nodiscard]] std::string numbers_words(const PaneContext& ui, const CompareSlots& slots,
                                        const CompareNumbers& numbers);

}  // namespace aft::app

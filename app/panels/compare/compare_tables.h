// The tables below the maps of Compare: largest changes, layers, matched heads, and the settings
// that differ. A pressed row selects what it tells of. Window thread, inside a frame.
#pragma once
#include <optional>

#include "app/panels/compare/compare_numbers.h"
#include "model/jobs/compare.h"

namespace aft::app {

// The cell of the pressed row.
[[nodiscard]] std::optional<Cell> changes_table(PaneContext& ui, const CompareSlots& slots,
                                                const CompareNumbers& numbers);
[[nodiscard]] std::optional<Cell> layers_table(PaneContext& ui, const CompareSlots& slots,
                                               const CompareNumbers& numbers);
[[nodiscard]] std::optional<Cell> heads_table(PaneContext& ui, const CompareSlots& slots,
                                              const CompareNumbers& numbers);

void settings_table(PaneContext& ui, const CompareSlots& slots);

// "Layer 3 of 12" while numbers are on their way; why there are none; "" = all are there.
[[nodiscard]] std::string numbers_words(const PaneContext& ui, const CompareSlots& slots,
                                        const CompareNumbers& numbers);

}  // namespace aft::app

// What Compare reads of the selected cell: the line below the maps. Window thread.
#pragma once
#include <vector>

#include "app/panels/compare/compare_shown.h"
#include "app/widgets/text.h"

namespace aft::app {

// The value of one cell of a slot in this quantity; NaN = none.
[[nodiscard]] double slot_cell_value(const SlotMap& map, const Cell& cell, Quantity quantity);
// Of the single cell, also where the picture is in blocks or of a pair.
[[nodiscard]] bool is_cell_masked(const SlotMap& map, const Cell& cell);
// Its indices, and the value of every slot, or why there is none.
[[nodiscard]] std::vector<ReadOut> compare_read_out(const PaneContext& ui,
                                                    const CompareSlots& slots,
                                                    const ShownMaps& shown);

}  // namespace aft::app

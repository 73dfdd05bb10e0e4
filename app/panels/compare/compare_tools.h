// The rows of tools of Compare, its caption, and its part of the Inspector. Window thread, inside a
// frame.
#pragma once
#include <string>

#include "app/panels/compare/compare_shown.h"

namespace aft::app {

enum class LowerPart { changes, layers, heads, curves, settings };  // CompareChoice::lower

// View, quantity, gauge, layer, head, which slot is compared with the first. True: the whole maps
// shall be shown.
[[nodiscard]] bool compare_tools(PaneContext& ui, const CompareSlots& slots);
// What stands below the maps; `words` at the right: what is still being read. shows_maps: the maps
// are one of the choices, in place of it.
void lower_tools(PaneContext& ui, const std::string& words, bool* shows_maps = nullptr);
[[nodiscard]] std::string compare_caption(const PaneContext& ui, const CompareSlots& slots,
                                          const std::string& scale_words);
void compare_inspector(Ui& ui, const CompareSlots& slots, const CompareNumbers& numbers,
                       const ShownMaps& shown);

}  // namespace aft::app

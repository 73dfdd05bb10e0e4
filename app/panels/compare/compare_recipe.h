// What a slot's biases are changed by: a button in its card, and the list behind it: nothing, what
// the Lab shows, a recipe's file. Window thread, inside a frame; reads a file when it is chosen.
#pragma once
#include <string>

#include "app/panels/compare/compare_slots.h"
#include "app/panels/shared/path_row.h"

namespace aft::app {

// "step_a": ids have no capitals.
[[nodiscard]] std::string slot_id(const char* word, size_t index);
[[nodiscard]] WidgetName slot_name(const char* words, const char* id, const ComparedSlot& slot,
                                   size_t index);

class SlotRecipes {
  public:
    void draw(PaneContext& ui, const ComparedSlot& slot, size_t index);

  private:
    void draw_list(PaneContext& ui, CompareSlot& choice);
    void draw_file(PaneContext& ui, CompareSlot& choice);
    PathRow file_;
};

}  // namespace aft::app

// The row of slots at the top of Compare: a card for each with its model, step and head, and the
// list that another one is chosen from. Window thread, inside a frame.
#pragma once
#include <string>
#include <vector>

#include "app/panels/compare/compare_recipe.h"
#include "app/panels/shared/known_runs.h"
#include "app/panels/shared/path_row.h"

namespace aft::app {

class CompareCards {
  public:
    void draw(PaneContext& ui, const CompareSlots& slots);
    void open_list() { opens_ = true; }  // in the next frame

  private:
    void draw_card(PaneContext& ui, const ComparedSlot& slot, size_t index, ImVec2 size);
    void draw_step(PaneContext& ui, const ComparedSlot& slot, size_t index, float width);
    void draw_head(PaneContext& ui, const ComparedSlot& slot, size_t index, float width);
    void draw_list(PaneContext& ui, const CompareSlots& slots);
    void draw_path(PaneContext& ui);

    bool opens_ = false;
    PathRow path_;
    KnownRuns runs_{12};
    SlotRecipes recipes_;
};

}  // namespace aft::app

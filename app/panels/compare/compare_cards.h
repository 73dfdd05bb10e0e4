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
    // Of the lists of a card: whole words where they fit, else fewer, else one below the other.
    struct CardLists {
        bool is_short = false, is_stacked = false;
        float step = 0, head = 0;  // widths at scale 1
        ImVec2 card{};             // size in pixels
    };
    // The cards stand over the maps of their slots, where each slot has its own.
    struct CardLine {
        ImVec2 size;
        float pitch = 0, add = 0;   // from card to card; where the button begins; pixels
        bool is_add_short = false;  // the button is an icon
    };
    [[nodiscard]] static CardLine card_row(const PaneContext& ui, size_t slots, float all);
    [[nodiscard]] static CardLists card_lists(const PaneContext& ui, const ComparedSlot& slot,
                                              size_t index, float width);
    void draw_card(PaneContext& ui, const ComparedSlot& slot, size_t index, const CardLists& lists);
    void draw_step(PaneContext& ui, const ComparedSlot& slot, size_t index, const CardLists& lists);
    void draw_head(PaneContext& ui, const ComparedSlot& slot, size_t index, const CardLists& lists);
    void draw_list(PaneContext& ui, const CompareSlots& slots);
    void draw_path(PaneContext& ui);

    bool opens_ = false;
    PathRow path_;
    KnownRuns runs_{12};
    SlotRecipes recipes_;
};

}  // namespace aft::app

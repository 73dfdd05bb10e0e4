// What the Inspector shows of the Lab: the chosen intervention and its options, the pinned batch,
// the loss against the strength, the recipe as text. Window thread, inside a frame.
#pragma once
#include "app/panels/shared/batch_losses.h"
#include "app/panels/shared/known_runs.h"

namespace aft::app {

class LabInspector {
  public:
    void draw(Ui& ui, const BatchLosses& losses);
    // Recipes that the curve over the strength needs: the chosen one alone, in steps of a quarter.
    // None where it does not fit the open model.
    [[nodiscard]] static std::vector<Recipe> strength_recipes(const ViewState& ui);

  private:
    void draw_chosen(Ui& ui);
    void draw_options(PaneContext& ui, const InterventionInfo& info, Intervention& one);
    // True: `value` is another path.
    [[nodiscard]] bool draw_path(PaneContext& ui, const InterventionOption& option,
                                 std::string& value);
    void draw_batch(PaneContext& ui, const BatchLosses& losses);
    void draw_strength(PaneContext& ui, const BatchLosses& losses);
    void draw_recipe(Ui& ui);
    KnownRuns runs_{12};
    bool asks_path_ = false;  // the file browser, for an option
};

}  // namespace aft::app

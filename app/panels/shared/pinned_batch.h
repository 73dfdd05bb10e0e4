// The pinned batch: the examples of the open model's data on which the loss is measured without and
// with a recipe, as the Lab has them chosen. Window thread.
#pragma once
#include <optional>
#include <string>

#include "app/panels/shared/batch_losses.h"
#include "app/state/ui.h"

namespace aft::app {

// The step whose weights are measured: the shown one, or the saved one nearest to it; while
// training runs and all views are live, the newest saved one. nullopt: there is none yet.
[[nodiscard]] std::optional<MeasuredStep> lab_step(const ViewState& ui);
// Which step the costs are of, where it is not the shown one; else "".
[[nodiscard]] std::string measured_words(const ViewState& ui, int64_t measured);
// nullopt: nothing is saved yet.
[[nodiscard]] std::optional<LossBatch> pinned_batch(const ViewState& ui);
// None counts twice, or the standard error would be too small: of a part of `all` examples (fewer
// than two: not known yet) so many at most. No change of the user's, for undo.
void clamp_batch(ViewState& ui, int64_t all);
// Why no command measures the same; "" = one does.
[[nodiscard]] std::string why_no_eval_command(const ViewState& ui);
// "afterimage eval CHECKPOINT --data SPEC --recipe FILE --index 0 --limit 64", of the step that is
// measured. Where there is a reason against it: "".
[[nodiscard]] std::string eval_command(const ViewState& ui, const std::string& recipe_file);

}  // namespace aft::app

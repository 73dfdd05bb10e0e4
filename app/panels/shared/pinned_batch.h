// The pinned batch: the examples of the open model's data on which the loss is measured without and
// with a recipe, as the Lab has them chosen. Pure functions; window thread.
#pragma once
#include <optional>
#include <string>

#include "app/panels/shared/batch_losses.h"
#include "app/state/ui.h"

namespace aft::app {

// The step whose weights are measured: the shown one; while training runs and all views are live,
// the newest saved one. nullopt: there is none yet.
[[nodiscard]] std::optional<int64_t> lab_step(const ViewState& ui);
// nullopt: nothing is saved yet.
[[nodiscard]] std::optional<LossBatch> pinned_batch(const ViewState& ui);
// "afterimage eval RUN --data SPEC --recipe FILE --index 0 --limit 64"; "" = it cannot be said.
[[nodiscard]] std::string eval_command(const ViewState& ui, const std::string& recipe_file);

}  // namespace aft::app

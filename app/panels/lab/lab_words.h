// Interventions in words, and which of them a model can have. Pure functions; window thread.
#pragma once
#include <string>
#include <vector>

#include "app/panels/shared/loss_words.h"
#include "app/state/ui.h"
#include "core/paired.h"

namespace aft::app {

[[nodiscard]] const std::vector<InterventionInfo>& all_interventions();
[[nodiscard]] const InterventionInfo* info_of(const Intervention& one);  // null: unknown name
[[nodiscard]] std::string intervention_title(const std::string& name);   // "Low rank"
// "layer 3, head 7, sigma 1.5": layers and heads only where the model has several.
[[nodiscard]] std::string place_words(const ViewState& ui, const Intervention& one);
// What is on, in its order; what is off counts for nothing.
[[nodiscard]] Recipe lab_active(const LabChoice& lab);
// Why this one cannot be done to the open model; "" = it can, as far as its traits tell.
[[nodiscard]] std::string why_not_here(const ViewState& ui, const InterventionInfo& info);

// "+0.083": two digits of the half width of its interval, three to six decimals.
[[nodiscard]] std::string change_words(const PairedChange& change);
[[nodiscard]] int change_decimals(const PairedChange& change);
// The step whose weights are measured: the shown one; while training runs and all views are live,
// the newest saved one. nullopt: there is none yet.
[[nodiscard]] std::optional<int64_t> lab_step(const ViewState& ui);
// "afterimage eval RUN --data SPEC --recipe FILE --index 0 --limit 64"; "" = it cannot be said.
[[nodiscard]] std::string eval_command(const ViewState& ui);

}  // namespace aft::app

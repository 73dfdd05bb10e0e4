// Interventions in words, and which of them a model can have. Pure functions; window thread.
#pragma once
#include <string>
#include <vector>

#include "app/panels/shared/intervention_words.h"
#include "app/panels/shared/loss_words.h"
#include "app/panels/shared/pinned_batch.h"
#include "app/state/ui.h"
#include "core/paired.h"

namespace aft::app {

[[nodiscard]] std::string intervention_title(const std::string& name);  // "Low rank"
// "layer 3, head 7, sigma 1.5": layers and heads only where the model has several.
[[nodiscard]] std::string place_words(const ViewState& ui, const Intervention& one);
// Why this one cannot be done to the open model; "" = it can, as far as its traits tell.
[[nodiscard]] std::string why_not_here(const ViewState& ui, const InterventionInfo& info);
// Why this one of a recipe is for another model: its name, what it changes, its layer or its head;
// "" = it fits the open one.
[[nodiscard]] std::string why_not_fit(const ViewState& ui, const Intervention& one);
// The same with a layer and a head that are there.
[[nodiscard]] Intervention fitted(const ViewState& ui, Intervention one);
// "Intervention 1 (Zero): layer 17 is not in this model: 0 to 1.", of all of the recipe that do not
// fit, on or off; "" = all fit.
[[nodiscard]] std::string unfit_words(const ViewState& ui, const Recipe& recipe);

// "+0.083": two digits of the half width of its interval, three to six decimals.
[[nodiscard]] std::string change_words(const PairedChange& change);
[[nodiscard]] int change_decimals(const PairedChange& change);

}  // namespace aft::app

#include "app/panels/shared/whole_step.h"

#include <vector>

#include "core/nearest_step.h"
#include "model/model_files.h"

namespace aft::app {

int64_t whole_step(const ViewState& ui) {
    if (ui.selection.step < 0) return ui.weights_step();
    if (ui.selection.step == ui.weights_step()) return ui.selection.step;
    const int64_t saved = whole_saved_step(ui);
    return saved < 0 ? ui.selection.step : saved;
}

int64_t whole_saved_step(const ViewState& ui) {
    if (is_checkpoint_file(ui.status.path)) return ui.status.saved_step;
    if (ui.session == nullptr) return -1;
    return nearest_step(ui.session->saved_steps(), ui.shown_weights());
}

}  // namespace aft::app

#include "app/frame/run_place.h"

#include <utility>

#include "app/state/overlay_choice.h"
#include "app/state/step_notes.h"
#include "model/jobs/summary.h"
#include "model/model_files.h"

namespace aft::app {

void keep_run_place(const ViewState& ui, RunNotes& notes) {
    const Selection& selection = ui.selection;
    if (notes.pins != selection.pins) notes.pins = selection.pins;
    if (notes.experiments != ui.experiments) notes.experiments = ui.experiments;
    if (notes.overlays != ui.overlays) notes.overlays = ui.overlays;
    notes.locked = selection.locked ? std::optional(selection.cell) : std::nullopt;
    if (notes.recipe != selection.lab.recipe) notes.recipe = selection.lab.recipe;
    KeptMask mask = kept_mask(selection.completion, ui.status.config.model);
    if (is_lower_half(mask)) mask = {};
    if (notes.mask != mask) notes.mask = std::move(mask);
}

void restore_run_place(Ui& ui, const RunNotes& notes) {
    ui.selection.pins = notes.pins;
    ui.experiments = notes.experiments;
    ui.overlays.clear();
    for (const std::string& run : notes.overlays)
        if (!is_overlaid(ui, run)) toggle_overlay(ui, run);
    // A saved step that was opened, to branch from it say: the curves of its run.
    if (const std::string twin = run_of_step(ui.status.path);
        ui.overlays.empty() && is_run_folder(twin))
        toggle_overlay(ui, twin);
    open_step_notes(ui, notes.step_notes);
    if (notes.locked) ui.selection.lock(*notes.locked);
    show_mask(ui.selection.completion, notes.mask);
    LabChoice& lab = ui.selection.lab;
    lab.history = {};
    if (notes.recipe == lab.recipe) return;
    lab.recipe = notes.recipe;  // not that of the run before
    lab.chosen = 0;
}

}  // namespace aft::app

#include "app/frame/bars/step_menu.h"

#include <utility>

#include "app/frame/bars/note_pins.h"
#include "app/widgets/buttons.h"
#include "app/widgets/combo.h"
#include "app/widgets/text.h"
#include "core/nearest_step.h"
#include "core/text.h"

namespace aft::app {

void draw_step_menu(Ui& ui, int64_t step) {
    const PopupScope popup(ui, "pin");
    if (!popup.is_open()) return;
    text(ui, "Step " + group_thousands(step), {text_size::label, ui.theme.text3});
    if (draw_note_rows(ui, step)) ImGui::CloseCurrentPopup();
    if (ui.history.empty()) return;
    if (const int64_t stored = nearest_step(ui.history, step); stored != step)
        text(ui, "Stored nearest: step " + group_thousands(stored),
             {text_size::label, ui.theme.text3});
    for (const auto& [action, words] :
         {std::pair{"view.workspace_biases", "Open this step's maps"},
          std::pair{"compare.with_shown", "Compare with this step"},
          std::pair{"run.branch_shown", "Branch from this step"},
          std::pair{"run.rewind_shown", "Rewind to this step"},
          std::pair{"file.save_view", "Export this step's view..."}}) {
        const Action* const found = ui.actions.find(action);
        if (found == nullptr) continue;  // a frame without that pane
        if (!button(ui, {.name = {words, action},
                         .icon = found->icon,
                         .kind = ButtonKind::ghost,
                         .why_not = ui.actions.why_not(ui, action),
                         .tip = found->sentence}))
            continue;
        ui.actions.run(ui, action);
        ImGui::CloseCurrentPopup();
    }
}

}  // namespace aft::app

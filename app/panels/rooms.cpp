#include "app/panels/rooms.h"

namespace aft::app {

// One function per panel, one line per panel in the list; the order is that of `list panels`.
PanelRoom home_panel();
PanelRoom train_panel();
PanelRoom plots_panel();
PanelRoom train_samples_panel();
PanelRoom controls_panel();
PanelRoom explorer_panel();
PanelRoom log_panel();
PanelRoom inspector_panel();
PanelRoom bias_atlas_panel();
PanelRoom bias_focus_panel();
PanelRoom bias_statistics_panel();
PanelRoom bias_structure_panel();
PanelRoom bias_formation_panel();
PanelRoom bias_factors_panel();
PanelRoom watched_panel();
PanelRoom attention_panel();
PanelRoom keys_panel();
PanelRoom relative_panel();
PanelRoom trace_panel();
PanelRoom source_panel();
PanelRoom complete_panel();
PanelRoom play_panel();
PanelRoom sampling_panel();
PanelRoom compare_panel();
PanelRoom lab_panel();
PanelRoom interventions_panel();
PanelRoom patching_panel();
PanelRoom speed_panel();
PanelRoom operator_panel();

const std::vector<PanelRoom>& panels() {
    // clang-format off
    static const std::vector<PanelRoom> list = {
        home_panel(),
        train_panel(),
        plots_panel(),
        train_samples_panel(),
        controls_panel(),
        explorer_panel(),
        log_panel(),
        bias_atlas_panel(),
        bias_focus_panel(),
        bias_statistics_panel(),
        bias_structure_panel(),
        bias_formation_panel(),
        bias_factors_panel(),
        watched_panel(),
        attention_panel(),
        keys_panel(),
        relative_panel(),
        trace_panel(),
        source_panel(),
        complete_panel(),
        play_panel(),
        sampling_panel(),
        inspector_panel(),
        compare_panel(),
        interventions_panel(),
        lab_panel(),
        patching_panel(),
        speed_panel(),
        operator_panel(),
    };
    // clang-format on
    return list;
}

}  // namespace aft::app

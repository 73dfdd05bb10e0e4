#include "app/panels/rooms.h"

namespace aft::app {

PanelRoom attention_panel();
PanelRoom bias_atlas_panel();
PanelRoom bias_focus_panel();
PanelRoom bias_statistics_panel();
PanelRoom controls_panel();
PanelRoom inspector_panel();
PanelRoom keys_panel();
PanelRoom plots_panel();
PanelRoom train_panel();

// One function per panel, one line per panel in the list; the order is that of `list panels`.

const std::vector<PanelRoom>& panels() {
    static const std::vector<PanelRoom> list = {
        train_panel(),            //
        plots_panel(),            //
        controls_panel(),         //
        bias_atlas_panel(),       //
        bias_focus_panel(),       //
        bias_statistics_panel(),  //
        attention_panel(),        //
        keys_panel(),             //
        inspector_panel(),        //
    };
    return list;
}

}  // namespace aft::app

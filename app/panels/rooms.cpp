#include "app/panels/rooms.h"

namespace aft::app {

PanelRoom bias_atlas_panel();
PanelRoom bias_focus_panel();
PanelRoom bias_statistics_panel();
PanelRoom attention_panel();
PanelRoom keys_panel();
PanelRoom source_panel();
PanelRoom complete_panel();
PanelRoom play_panel();
PanelRoom sampling_panel();

// One function per panel, one line per panel in the list; the order is that of `list panels`.

const std::vector<PanelRoom>& panels() {
    static const std::vector<PanelRoom> list = {
        bias_atlas_panel(), bias_focus_panel(), bias_statistics_panel(),
        attention_panel(),  keys_panel(),       source_panel(),
        complete_panel(),   play_panel(),       sampling_panel()};
    return list;
}

}  // namespace aft::app

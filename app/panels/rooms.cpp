#include "app/panels/rooms.h"

namespace aft::app {

PanelRoom inspector_panel();

// One function per panel, one line per panel in the list; the order is that of `list panels`.

const std::vector<PanelRoom>& panels() {
    static const std::vector<PanelRoom> list = {
        inspector_panel(),
    };
    return list;
}

}  // namespace aft::app

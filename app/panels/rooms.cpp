#include "app/panels/rooms.h"

namespace aft::app {

// One function per panel, one line per panel in the list; the order is that of `list panels`.

const std::vector<PanelRoom>& panels() {
    static const std::vector<PanelRoom> list = {};
    return list;
}

}  // namespace aft::app

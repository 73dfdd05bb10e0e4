// Zoom of a bias map in words, the same in every pane: "12 px / cell", "4×12 px" where the axes
// differ. Pure; any thread.
#pragma once
#include <string>

#include "viz/map.h"

namespace aft::app {

[[nodiscard]] inline std::string zoom_words(viz::Zoom zoom) {
    const std::string down = std::to_string(zoom.down);
    return zoom.across == zoom.down ? down : std::to_string(zoom.across) + "\u00D7" + down;
}

[[nodiscard]] inline std::string cell_zoom_words(viz::Zoom zoom) {
    return zoom_words(zoom) + (zoom.across == zoom.down ? " px / cell" : " px");
}

}  // namespace aft::app

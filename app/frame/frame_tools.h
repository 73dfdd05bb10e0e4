// FrameTools: what the actions of the frame reach for. Window thread.
#pragma once
#include <optional>
#include <string>

#include "app/frame/figure_card.h"
#include "app/frame/file_browser.h"
#include "app/frame/palette.h"
#include "app/frame/shortcut_list.h"
#include "app/frame/timeline.h"

namespace aft::app {

// Everything that global actions reach for.
struct FrameTools {
    Timeline timeline;
    Palette palette;
    FileBrowser browser;
    FigureCard figures;
    ShortcutList shortcuts;
    bool side_hidden = false;
    bool reset_layout = false;
    bool in_focus = false;                  // Biases: the pane Focus is in front
    std::string rail_open;                  // pane shown over the canvas on small windows
    std::optional<std::string> focus_pane;  // pane to be brought to the front
};

}  // namespace aft::app

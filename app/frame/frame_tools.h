// FrameTools: what the actions of the frame reach for. Window thread.
#pragma once
#include <string>
#include <vector>

#include "app/frame/figure_card.h"
#include "app/frame/file_browser.h"
#include "app/frame/film_card.h"
#include "app/frame/film_recorder.h"
#include "app/frame/layout_card.h"
#include "app/frame/mask_card.h"
#include "app/frame/palette.h"
#include "app/frame/shortcut_list.h"
#include "app/frame/timeline.h"
#include "app/frame/tour.h"
#include "app/frame/view_card.h"

namespace aft::app {

// Everything that global actions reach for.
struct FrameTools {
    Timeline timeline;
    Palette palette;
    FileBrowser browser;
    FigureCard figures;
    ViewCard views;
    LayoutCard layouts;
    MaskCard masks;
    FilmCard films;
    FilmRecorder recorder;
    Tour tour;
    ShortcutList shortcuts;
    bool side_hidden = false;
    bool reset_layout = false;
    bool in_focus = false;                 // Biases: the pane Focus is in front
    std::string rail_open;                 // pane shown over the canvas on small windows
    std::vector<std::string> focus_panes;  // to be brought to the front, the last one above all
};

}  // namespace aft::app

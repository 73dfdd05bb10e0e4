// FrameTools: what the actions of the frame reach for. Window thread.
#pragma once
#include <string>
#include <vector>

#include "app/frame/bars/timeline.h"
#include "app/frame/cards/copy_card.h"
#include "app/frame/cards/figure_card.h"
#include "app/frame/cards/file_browser.h"
#include "app/frame/cards/film_card.h"
#include "app/frame/cards/film_recorder.h"
#include "app/frame/cards/layout_card.h"
#include "app/frame/cards/mask_card.h"
#include "app/frame/cards/metrics_card.h"
#include "app/frame/cards/note_card.h"
#include "app/frame/cards/palette.h"
#include "app/frame/cards/shortcut_list.h"
#include "app/frame/cards/tour.h"
#include "app/frame/cards/view_card.h"

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
    MetricsCard metrics;
    NoteCard notes;
    CopyCard copies;
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

// DrawContext: all that drawing a control needs: the look (theme, fonts, scale; all that viz/
// takes), the recorder of widgets, the field that is edited, and the clock. Widgets take nothing
// else. Made by the frame, once. Window thread. Never keep pointers into it beyond the frame.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "app/state/fonts.h"
#include "app/state/icons.h"
#include "app/state/recorder.h"
#include "app/state/theme.h"
#include "viz/text.h"

namespace aft::app {

using viz::TextStyle;

struct FrameStats {      // the program's own measurements, milliseconds
    double draw_ms = 0;  // last frame: building and drawing it
    double p95_ms = 0;   // of the last 256 frames
    double longest_ms = 0;
    uint64_t frames = 0;  // drawn since the start
};

// The one field that is being dragged or typed into (widgets only).
struct FieldEdit {
    std::string id{}, text{}, error{};  // error: "0 to 1, found 200"
    std::string opened{};               // the text as it stood there first, rounded
    bool typing = false, take_focus = false;
    double start = 0, value = 0;  // of a drag
};

// The hover line that is copied, with every digit.
struct LineText {
    uint64_t frame = 0;
    std::string text{};
};

// When the window shall draw though nothing happens.
struct WantedFrames {
    int count = 0;                                        // at least so many more, at once
    double at = std::numeric_limits<double>::infinity();  // one at this time
};

struct DrawContext : viz::Look {
    Recorder recorder;
    FieldEdit edit;
    LineText read_out;
    double time = 0;  // seconds since the start; in pictures and tests a fixed pace
    FrameStats stats;
    WantedFrames wanted;
    bool is_styled = false;  // theme and scale are the user's

    void want_frame_at(double seconds) { wanted.at = std::min(wanted.at, seconds); }
    void want_frames(int n) { wanted.count = std::max(wanted.count, n); }
};

}  // namespace aft::app

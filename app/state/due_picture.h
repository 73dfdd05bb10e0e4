// DuePicture: what the host writes of a frame (app/host/take_picture.h): a picture of the panes in
// the middle, or the numbers that they draw. Window thread.
#pragma once
#include <imgui.h>

#include <cstdint>
#include <optional>
#include <string>

#include "app/state/background.h"
#include "viz/numbers.h"
#include "viz/theme.h"

namespace aft::app {

struct PictureRequest {
    std::string path{};     // .png, .svg, .npz or .csv; empty = none
    bool replaces = false;  // files beside it that are there already: tables and note of a .csv
    int scale = 1;          // of a PNG: its pixels for one of the display, 1 to 4
    std::optional<viz::ThemeName> ground{};  // unset: as on the screen
};

struct DuePicture {
    PictureRequest request{};
    ImVec2 low{}, high{};  // of the panes in the middle, in the last frame: pixels of the display
    int frames = 0;        // to be drawn before it is taken, that of the picture included
    viz::NumberSink numbers{};
    double waited_since = 0;  // Ui::time: for numbers that are still read; 0 = not
    struct PictureWritten {
        std::string path, error;  // error "" = it is there
        uint64_t number = 0;
    };
    Background<PictureWritten> work{};  // encodes and writes
    uint64_t started = 0, reported = 0;

    [[nodiscard]] bool is_due() const { return !request.path.empty(); }
    [[nodiscard]] bool is_now() const { return is_due() && frames == 1; }  // the frame that comes
    [[nodiscard]] bool is_unfinished() const { return is_due() || reported != started; }
    // That frame is another one than the screen's, or those before it are.
    [[nodiscard]] bool is_apart() const {
        return is_now() || (is_due() && request.ground.has_value());
    }
};

}  // namespace aft::app

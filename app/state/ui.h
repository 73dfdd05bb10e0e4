// Ui: everything a panel may see while it is drawn. Made by the frame, once; filled anew each
// frame. Panels read status and curves, ask the session for fields, change the selection, and wish
// things through actions. Window thread. Never keep pointers into it beyond the frame; never wait
// in a panel.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "app/state/actions.h"
#include "app/state/fonts.h"
#include "app/state/icons.h"
#include "app/state/recorder.h"
#include "app/state/selection.h"
#include "app/state/theme.h"
#include "app/state/toasts.h"
#include "app/state/user_settings.h"
#include "model/session.h"
#include "viz/look.h"

namespace aft::app {

enum class Workspace { home, train, biases, attention, complete, compare, lab };
inline constexpr Workspace kWorkspaces[] = {
    Workspace::home,     Workspace::train,   Workspace::biases, Workspace::attention,
    Workspace::complete, Workspace::compare, Workspace::lab};
[[nodiscard]] const char* workspace_name(Workspace workspace);  // "Home", "Train", ...

class Panel;

struct FrameStats {      // the program's own measurements, milliseconds
    double draw_ms = 0;  // last frame: building and drawing it
    double p95_ms = 0;   // of the last 256 frames
    double longest_ms = 0;
    uint64_t frames = 0;  // drawn since the start
};

struct LogLine {
    double time = 0;         // seconds since the start
    std::string kind, text;  // info, warning, error
};

// The one field that is being dragged or typed into (widgets only).
struct FieldEdit {
    std::string label{}, text{}, error{};  // error: "0 to 1, found 200"
    bool typing = false, take_focus = false;
    double start = 0, value = 0;  // of a drag
};

// The hover line that is copied, with every digit.
struct LineText {
    uint64_t frame = 0;
    std::string text{};
};

struct Ui {
    Session* session = nullptr;  // null: nothing is open. Panels then show their empty state.
    Status status;               // this frame's picture of the session (state empty when none)
    std::shared_ptr<const Curves> curves = std::make_shared<Curves>();  // never null
    std::vector<int64_t> history;  // steps that a probe can name

    Selection selection;
    Actions actions;
    Toasts toasts;
    Recorder recorder;
    UserSettings settings;
    Theme theme;
    Fonts fonts;
    viz::Look look;  // the same theme, scale and fonts for the drawing functions of viz/
    Workspace workspace = Workspace::home;
    FrameStats stats;
    std::vector<LogLine> log;
    std::vector<Panel*> shown_panels;  // of this workspace: the Inspector draws their sections

    double time = 0;          // seconds since the start; in pictures and tests a fixed pace
    bool headless = false;    // drawn without a display
    bool has_gl = false;      // textures can be made (false in tests without a renderer)
    bool input_seen = false;  // there was input this frame
    bool quit = false;

    // Wishes that the frame fulfils before the next frame.
    std::vector<std::string> open_paths;        // checkpoints, run folders, pictures
    std::shared_ptr<OpenRequest> open_request;  // or a new run
    std::string front_pane;                     // a pane that comes to the front, by its name
    bool close_model = false;                   // nothing is open then
    bool browse = false;                        // show the file browser
    bool browse_data = false;                   // the same, to say where the data lie
    FieldEdit edit;
    LineText read_out;
    bool submitted = false;    // Enter in the text field drawn last
    double next_frame_at = 0;  // a frame is wanted then, though nothing happens
    int frames_wanted = 0;     // draw at least so many more frames

    void open(std::string path) { open_paths.push_back(std::move(path)); }
    void want_frame_at(double seconds) {
        next_frame_at = next_frame_at < seconds ? next_frame_at : seconds;
    }
    void want_frames(int n) { frames_wanted = frames_wanted > n ? frames_wanted : n; }
    void say(std::string kind, std::string text) {
        log.push_back({time, std::move(kind), std::move(text)});
    }
    [[nodiscard]] float px(float value) const { return theme.px(value); }
    [[nodiscard]] bool has_model() const {
        return status.state != RunState::empty && status.state != RunState::opening;
    }
    [[nodiscard]] int64_t shown_step() const {
        return selection.step < 0 ? status.step : selection.step;
    }
};

}  // namespace aft::app

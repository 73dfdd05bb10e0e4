// Frame: the whole window's content of one moment: top bar, panes, timeline, status, palette,
// toasts; owner of Ui, of the panels and of the session. The same for the real window, for pictures
// without a display and for tests. Window thread. Order per frame: prepare(), ImGui::NewFrame(),
// draw(), ImGui::Render(), finish().
#pragma once
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/frame/unsaved_steps.h"
#include "app/panels/panel.h"
#include "app/panels/rooms.h"

namespace aft::app {

struct FrameOptions {
    bool headless = false;
    viz::MapPainter* painter = nullptr;   // null: no OpenGL, pictures are left out
    float display_scale = 1;              // content scale of the display
    std::filesystem::path settings_file;  // empty: nothing is remembered
    std::string device = "cpu";
    // This program, for what runs in a process of its own; empty = none is started.
    std::string program;
    RankGroup* ranks = nullptr;  // other processes that share the training; outlives the frame
    std::function<void()> wake = [] {};  // from other threads: something new can be shown
    const std::vector<PanelRoom>* rooms = nullptr;  // null: panels()
    std::function<void(Ui&)> feed;  // tests: fills status and curves in place of a session
};

class Frame {
  public:
    explicit Frame(FrameOptions options);  // needs a current ImGui context with its font atlas
    ~Frame();

    void prepare(double seconds_since_start);  // applies commands, theme and the session's news
    void draw();
    void finish();  // after the frame is on screen: measures it
    // A path from outside: command line, drop, script. Run folder, checkpoint or picture.
    void open(const std::string& path);
    [[nodiscard]] Session* session();  // the open one, for the host and tests; null = none
    void set_display_scale(float scale);
    // Before the end: has the open session save. Blocks; what it could not save, if so.
    [[nodiscard]] std::optional<UnsavedSteps> save_session();
    // Ends the open session and waits for those that end in the background. What could not be saved
    // and was not reported in a frame.
    [[nodiscard]] std::vector<UnsavedSteps> end_sessions();
    void save_settings();  // layout and user settings, now
    [[nodiscard]] Ui& ui();

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

// The text dump of the last frame, as AFTERIMAGE_DUMP writes it.
[[nodiscard]] std::string dump(const PaneContext& ui);

// The frame with no renderer at all: ids, names, sentences and actions for `list` and tests.
[[nodiscard]] std::vector<Action> all_actions();

}  // namespace aft::app

// The parts of the frame, each with its own little state. Used by frame.cpp only. Window thread.
#pragma once
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "app/frame/layouts.h"
#include "app/frame/loss_track.h"
#include "app/frame/pinned_events.h"

namespace aft::app {

class Timeline {
  public:
    void draw(Ui& ui, const FrameAreas& areas, ImVec2 display);
    void advance(Ui& ui);  // playback: moves the step
    void toggle_play(Ui& ui);
    void scrub(Ui& ui, int direction);  // to the neighbouring stored moment
    void go_live(Ui& ui) { ui.selection.step = -1, playing_ = false; }
    void go_first(Ui& ui);

  private:
    void draw_transport(Ui& ui, float height, bool is_small);
    void draw_track(Ui& ui, ImVec2 a, ImVec2 b);
    void draw_live(Ui& ui, ImVec2 a, ImVec2 b);
    bool playing_ = false;
    int speed_ = 1;  // index into 0.5, 1, 2, 4
    double next_ = 0;
    PinnedEvents pins_;
    LossTrack loss_;
};

class Palette {
  public:
    void open() { is_open_ = true, is_new_ = true, query_.clear(), chosen_ = 0; }
    [[nodiscard]] bool is_open() const { return is_open_; }
    void close() { is_open_ = false; }
    void draw(Ui& ui, ImVec2 display);

  private:
    void draw_row(Ui& ui, const Action& action, bool chosen);
    bool is_open_ = false, is_new_ = false;
    std::string query_;
    int chosen_ = 0;
};

class FileBrowser {
  public:
    void open(Ui& ui, bool for_data = false);  // for_data: chooses where the model's data lie
    [[nodiscard]] bool is_open() const { return is_open_; }
    void close() { is_open_ = false; }
    void draw(Ui& ui, ImVec2 display);

  private:
    struct Entry {
        std::string name;
        bool is_folder = false, is_run = false;
        uint64_t bytes = 0;
        int64_t changed = 0;
    };
    void read_folder();
    void go(const std::filesystem::path& folder);
    void draw_head(Ui& ui);
    void draw_list(Ui& ui, float height);
    void draw_foot(Ui& ui);
    void choose(Ui& ui, const Entry& entry);
    void take_typed(Ui& ui);
    void take_data(Ui& ui);
    bool is_open_ = false, is_new_ = false, for_data_ = false;
    std::filesystem::path folder_;
    std::string typed_, problem_;
    std::vector<Entry> entries_;
    struct List {
        std::string filter{};
        int sort = 0;  // name, changed, size
        int kind = 0;  // what is shown: models and pictures, everything
    } list_;
    std::string selected_;
};

class ShortcutList {
  public:
    void toggle() { is_open_ = !is_open_; }
    [[nodiscard]] bool is_open() const { return is_open_; }
    void close() { is_open_ = false; }
    void draw(Ui& ui, ImVec2 display, const std::string& pane_help);

  private:
    bool is_open_ = false;
};

void draw_top_bar(Ui& ui, const FrameAreas& areas, ImVec2 display);
void draw_status_bar(Ui& ui, const FrameAreas& areas, ImVec2 display);

// Everything that global actions reach for.
struct FrameTools {
    Timeline timeline;
    Palette palette;
    FileBrowser browser;
    ShortcutList shortcuts;
    bool side_hidden = false;
    bool reset_layout = false;
    bool in_focus = false;                  // Biases: the pane Focus is in front
    std::string rail_open;                  // id of the pane shown over the canvas on small windows
    std::optional<std::string> focus_pane;  // id of the pane to be brought to the front
};
void add_frame_actions(Actions& actions, FrameTools& tools);
void add_run_actions(Actions& actions);
void report_rewind(Ui& ui);  // the run has gone back: a toast says so, views follow
void add_selection_actions(Actions& actions, FrameTools& tools);

// A bare window at a place of the display: bars, overlays.
class BarScope {
  public:
    struct Place {
        ImVec2 at, size;
        ImU32 ground = 0;
        ImVec2 padding{0, 0};
    };
    BarScope(const char* name, const Place& place);
    ~BarScope();
    BarScope(const BarScope&) = delete;
    BarScope& operator=(const BarScope&) = delete;
};
// A card over everything (palette, browser, key list): ground raised, strong border, dimmed behind.
class OverlayScope {
  public:
    OverlayScope(Ui& ui, const char* name, ImVec2 at, ImVec2 size);
    ~OverlayScope();
    OverlayScope(const OverlayScope&) = delete;
    OverlayScope& operator=(const OverlayScope&) = delete;
    [[nodiscard]] bool is_left() const { return is_left_; }  // a click beside the card

  private:
    bool is_left_ = false;
};

}  // namespace aft::app

// Panes: the panels of the window, each in its dock window: dock space and layout of the workspace,
// guarded drawing, the rail of small windows. Window thread, inside a frame.
#pragma once
#include <imgui_internal.h>

#include <memory>
#include <string>
#include <vector>

#include "app/frame/frame_tools.h"
#include "app/panels/rooms.h"

namespace aft::app {

struct Pane {
    const PanelRoom* room = nullptr;
    std::unique_ptr<Panel> panel;
    std::string problem;  // what went wrong; shown until "Try again"
};

class Panes {
  public:
    explicit Panes(const std::vector<PanelRoom>& rooms);  // referred to for as long as this lives
    void add_actions(Actions& actions);
    void draw(Ui& ui, FrameTools& tools, const FrameAreas& areas);
    void draw_rail(PaneContext& ui, FrameTools& tools, const FrameAreas& areas);
    [[nodiscard]] std::vector<PaneHelp> help(Workspace workspace) const;  // of its canvas, for F1
    // Around the panes of the last frame that stand at neither side.
    [[nodiscard]] ImRect middle() const { return middle_; }
    // Of the last frame; true where the workspace has changed since.
    bool has_left(Workspace workspace);

  private:
    struct DrawPass;
    void draw_dock_space(const DrawPass& drawing);
    void draw_pane(const DrawPass& drawing, Pane& pane);
    void mark_front();
    void focus(const DrawPass& drawing, const Pane& pane, const PanelPlace& place) const;
    // Whether it is seen.
    bool draw_window(const DrawPass& drawing, Pane& pane, bool on_rail, ImRect& box);
    [[nodiscard]] bool is_first(const DrawPass& drawing) const;

    const std::vector<PanelRoom>& rooms_;
    std::vector<Pane> panes_;
    Workspace last_workspace_ = Workspace::lab;
    Width last_width_ = Width::wide;
    ImRect middle_;
    std::vector<std::string> shown_;  // panes of the middle that were seen in the last frame, by id
    bool are_new_ = false;            // they were drawn here for the first time in the last frame
};

}  // namespace aft::app

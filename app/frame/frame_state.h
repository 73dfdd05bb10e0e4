// The state of a Frame. For frame.cpp and frame_panes.cpp only. Window thread.
#pragma once
#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "app/frame/frame.h"
#include "app/frame/frame_parts.h"
#include "app/frame/warnings.h"
#include "app/state/open_path.h"

namespace aft::app {

struct Pane {
    const PanelRoom* room = nullptr;
    std::unique_ptr<Panel> panel;
    std::string problem;  // what went wrong; shown until "Try again"
};

struct Frame::Parts {
    FrameOptions options;
    Ui ui;
    Warnings warnings;
    FrameTools tools;
    std::vector<Pane> panes;
    std::unique_ptr<Session> session;
    std::shared_ptr<LossBox> losses = std::make_shared<LossBox>();
    std::vector<std::jthread> closing;  // sessions that end in the background
    std::chrono::steady_clock::time_point frame_start = std::chrono::steady_clock::now();
    std::deque<double> frame_times;
    Workspace last_workspace = Workspace::lab;
    Width last_width = Width::wide;
    bool panes_are_new = false;  // they were drawn here for the first time in the last frame
    std::string last_message, last_error;
    int64_t last_rewinds = 0;
    std::string missing_data;  // source that was looked for elsewhere already
    ThemeName applied_theme = ThemeName::light;
    float applied_scale = 0;
    std::string remembered;  // path of the open model that stands among the recent runs

    explicit Parts(FrameOptions o) : options(std::move(o)) {}
    void take_news();
    void take_wishes();
    void open_one(const std::string& path, Opening opening);
    void take_theme();
    void remember_open();
    void load_image();
    void replace_session(OpenRequest request);
    void let_go_of_session();
    void tell_losses();
    void close_session();
    void draw_panes(const FrameAreas& areas);
    void draw_pane(Pane& pane, const FrameAreas& areas);
    void draw_inside(Pane& pane);
    void draw_rail(const FrameAreas& areas);
    void draw_overlays(ImVec2 display);
    void handle_keys();
    void measure();
};

}  // namespace aft::app

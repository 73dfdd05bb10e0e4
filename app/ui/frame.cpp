#include "app/ui/frame.h"

#include <imgui_internal.h>
#include <implot.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <utility>

#include "app/ui/frame_parts.h"
#include "app/ui/guard.h"
#include "app/ui/open_path.h"
#include "app/ui/parts.h"

namespace aft::app {

const char* workspace_name(Workspace workspace) {
    static constexpr const char* kNames[] = {"Home",     "Train",   "Biases", "Attention",
                                             "Complete", "Compare", "Lab"};
    return kNames[static_cast<int>(workspace)];
}

namespace {

struct Pane {
    const PanelRoom* room = nullptr;
    std::unique_ptr<Panel> panel;
    std::string problem;  // what went wrong; shown until "Try again"
};

using Clock = std::chrono::steady_clock;
double ms_since(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

}  // namespace

struct Frame::Parts {
    FrameOptions options;
    Ui ui;
    FrameTools tools;
    std::vector<Pane> panes;
    std::unique_ptr<Session> session;
    std::vector<std::jthread> closing;  // sessions that end in the background
    Clock::time_point frame_start = Clock::now();
    std::deque<double> frame_times;
    Workspace last_workspace = Workspace::lab;
    std::string last_message, last_error;
    ThemeName applied_theme = ThemeName::light;
    float applied_scale = 0;

    explicit Parts(FrameOptions o) : options(std::move(o)) {}
    void take_news();
    void take_wishes();
    void take_theme();
    void load_image();
    void replace_session(OpenRequest request);
    void draw_panes(const FrameAreas& areas);
    void draw_pane(Pane& pane, const FrameAreas& areas);
    void draw_inside(Pane& pane);
    void draw_rail(const FrameAreas& areas);
    void draw_overlays(ImVec2 display);
    void measure();
};

Frame::Frame(FrameOptions options) : parts_(std::make_unique<Parts>(std::move(options))) {
    Parts& p = *parts_;
    enable_recovery();
    Ui& ui = p.ui;
    ui.headless = p.options.headless;
    ui.has_gl = p.options.painter != nullptr;
    std::string problem;
    if (!p.options.settings_file.empty())
        ui.settings = load_user_settings(p.options.settings_file, problem);
    if (!problem.empty()) ui.say("warning", problem);
    ui.fonts = load_fonts(*ImGui::GetIO().Fonts);
    for (const std::string& name : ui.fonts.missing)
        ui.say("warning", "font not found: " + name + "; another one is used");
    ImGui::GetIO().IniFilename = nullptr;
    if (!ui.settings.layout.empty()) ImGui::LoadIniSettingsFromMemory(ui.settings.layout.c_str());
    add_frame_actions(ui.actions, p.tools);
    add_run_actions(ui.actions);
    add_selection_actions(ui.actions, p.tools);
    const auto& rooms = p.options.rooms != nullptr ? *p.options.rooms : panels();
    for (const PanelRoom& room : rooms) {
        p.panes.push_back({.room = &room, .panel = room.make(), .problem = {}});
        p.panes.back().panel->actions(ui.actions);
    }
}

Frame::~Frame() = default;

Ui& Frame::ui() {
    return parts_->ui;
}

void Frame::open(const std::string& path) {
    parts_->ui.open_path = path;
}

void Frame::open_run(OpenRequest request) {
    parts_->ui.open_request = std::make_shared<OpenRequest>(std::move(request));
}

void Frame::set_display_scale(float scale) {
    parts_->options.display_scale = scale;
}

int Frame::frames_wanted() const {
    return parts_->ui.frames_wanted;
}

std::string Frame::dump() const {
    const Ui& ui = parts_->ui;
    return dump_text(ui.recorder, ui.stats.frames, workspace_name(ui.workspace),
                     ImGui::GetIO().DisplayFramebufferScale.x);
}

void Frame::save_settings() {
    Parts& p = *parts_;
    if (p.options.settings_file.empty()) return;
    p.ui.settings.layout = ImGui::SaveIniSettingsToMemory();
    save_user_settings(p.options.settings_file, p.ui.settings);
}

void Frame::prepare(double seconds) {
    Parts& p = *parts_;
    p.frame_start = Clock::now();
    p.ui.time = seconds;
    p.ui.frames_wanted = std::max(0, p.ui.frames_wanted - 1);
    p.take_wishes();
    p.take_news();
    p.take_theme();
    p.load_image();
    p.tools.timeline.advance(p.ui);
}

void Frame::Parts::take_theme() {
    const auto scale = options.display_scale * static_cast<float>(ui.settings.zoom);
    if (applied_theme == ui.settings.theme && applied_scale == scale) return;
    applied_theme = ui.settings.theme;
    applied_scale = scale;
    ui.theme = make_theme(applied_theme, scale);
    apply_theme(ui.theme);
    ui.look = {.colors = &viz::theme_colors(applied_theme),
               .scale = scale,
               .regular = ui.fonts.regular,
               .medium = ui.fonts.medium,
               .semibold = ui.fonts.semibold,
               .painter = options.painter};
    ui.want_frames(2);
}

void Frame::Parts::replace_session(OpenRequest request) {
    // The old one may need a step to end; nobody waits for it here.
    if (session) closing.emplace_back([old = std::shared_ptr<Session>(std::move(session))] {});
    ui.selection.step = -1;
    ui.selection.unlock();
    ui.selection.pins.clear();
    ui.selection.image = {};
    request.device = options.device;
    session = std::make_unique<Session>(std::move(request), options.wake);
    ui.session = session.get();
    last_error.clear();
    last_message.clear();
}

void Frame::Parts::take_wishes() {
    ui.input_seen = false;
    if (ui.browse) {
        ui.browse = false;
        tools.browser.open(ui);
    }
    if (auto request = std::exchange(ui.open_request, nullptr)) {
        replace_session(std::move(*request));
        ui.workspace = Workspace::train;
    }
    if (ui.open_path.empty()) return;
    const std::string path = std::exchange(ui.open_path, {});
    const Opening opening = classify_path(path, ui.session != nullptr);
    switch (opening.kind) {
        case Opening::picture:
            ui.selection.image = {.split = "", .index = 0, .path = path, .item = nullptr};
            if (ui.workspace != Workspace::attention) ui.workspace = Workspace::complete;
            break;
        case Opening::model:
            replace_session({.path = path, .config = {}, .out = {}});
            ui.settings.remember(recent_item(path));
            if (ui.workspace == Workspace::home) ui.workspace = opening.workspace;
            break;
        case Opening::impossible:
            ui.toasts.add(
                {.kind = ToastKind::error, .title = "Not opened", .detail = opening.words});
            ui.say("error", opening.words);
            break;
    }
    ui.want_frames(3);
}

void Frame::Parts::take_news() {
    if (options.feed) {
        options.feed(ui);
    } else if (session) {
        ui.status = session->status();
        if (auto curves = session->curves()) ui.curves = std::move(curves);
        ui.history = session->history_steps();
    }
    const Status& status = ui.status;
    if (!status.error.empty() && status.error != last_error) {
        ui.toasts.add({.kind = ToastKind::error, .title = status.error});
        ui.say("error", status.error);
    }
    if (!status.message.empty() && status.message != last_message) ui.say("info", status.message);
    last_error = status.error;
    last_message = status.message;
    if (ui.has_model()) {
        const ModelConfig& model = status.config.model;
        ui.selection.clamp(status, std::max<int64_t>(1, model.heads));
    }
    ui.selection.hover.reset();
}

void Frame::Parts::load_image() {
    ImageChoice& image = ui.selection.image;
    if (session == nullptr || image.item || !ui.has_model()) return;
    image.item = image.path.empty() ? session->data_item(image.split, image.index)
                                    : session->image_item(image.path);
}

void Frame::draw() {
    Parts& p = *parts_;
    Ui& ui = p.ui;
    const ImVec2 display = ImGui::GetIO().DisplaySize;
    ui.recorder.begin_frame();
    if (!p.tools.palette.is_open() && !p.tools.browser.is_open()) ui.actions.handle_keys(ui);
    const bool has_timeline = ui.workspace != Workspace::home;
    const FrameAreas areas = frame_areas(ui, display, has_timeline);
    draw_top_bar(ui, areas, display);
    p.draw_panes(areas);
    if (areas.rail > 0) p.draw_rail(areas);
    if (has_timeline) p.tools.timeline.draw(ui, areas, display);
    draw_status_bar(ui, areas, display);
    ui.recorder.set_pane("Toasts");
    ui.toasts.draw(ui);
    p.draw_overlays(display);
    ui.recorder.end_frame();
    p.measure();
}

void Frame::Parts::measure() {
    ui.stats.draw_ms = ms_since(frame_start);
    ++ui.stats.frames;
    frame_times.push_back(ui.stats.draw_ms);
    if (frame_times.size() > 256) frame_times.pop_front();
    std::vector<double> sorted(frame_times.begin(), frame_times.end());
    const size_t at = sorted.size() * 95 / 100;
    std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(at),
                     sorted.end());
    ui.stats.p95_ms = sorted[at];
    ui.stats.longest_ms = *std::max_element(frame_times.begin(), frame_times.end());
    if (std::exchange(last_workspace, ui.workspace) != ui.workspace) ui.want_frames(3);
}

void Frame::Parts::draw_panes(const FrameAreas& areas) {
    const ImVec2 size(areas.dock_max.x - areas.dock_min.x, areas.dock_max.y - areas.dock_min.y);
    const auto& rooms = options.rooms != nullptr ? *options.rooms : panels();
    {
        const BarScope host("Panes", {.at = areas.dock_min, .size = size, .ground = ui.theme.pane});
        build_layout(ui, {rooms, ui.workspace, areas.width}, size,
                     std::exchange(tools.reset_layout, false));
        for (const Workspace other : kWorkspaces)
            for (const Width width : {Width::wide, Width::rail, Width::narrow}) {
                const ImGuiID id = dock_id(other, width);
                if (other == ui.workspace && width == areas.width) continue;
                if (ImGui::DockBuilderGetNode(id) != nullptr)
                    ImGui::DockSpace(id, {0, 0}, ImGuiDockNodeFlags_KeepAliveOnly);
            }
        ImGui::DockSpace(dock_id(ui.workspace, areas.width), size);
    }
    ui.shown_panels.clear();
    for (const Pane& pane : panes)
        if (place_in(*pane.room, ui.workspace) != nullptr && pane.problem.empty())
            ui.shown_panels.push_back(pane.panel.get());
    for (Pane& pane : panes) draw_pane(pane, areas);
    tools.focus_pane.reset();
}

void Frame::Parts::draw_pane(Pane& pane, const FrameAreas& areas) {
    const Place* place = place_in(*pane.room, ui.workspace);
    if (place == nullptr) return;
    const bool is_side = place->slot == Slot::left || place->slot == Slot::right;
    if (is_side && tools.side_hidden) return;
    const bool on_rail = place->slot == Slot::left && areas.rail > 0;
    if (on_rail && tools.rail_open != pane.room->info.name) return;
    const std::string name = window_name(*pane.room, ui.workspace, areas.width);
    const bool is_first = last_workspace != ui.workspace;
    if (on_rail) {
        ImGui::SetNextWindowPos(areas.dock_min);
        ImGui::SetNextWindowSize({ui.px(280), areas.dock_max.y - areas.dock_min.y});
    }
    if (tools.focus_pane == pane.room->info.name ||
        (is_first && place->slot == Slot::canvas && place->order == 0) || on_rail)
        ImGui::SetNextWindowFocus();
    ImGuiWindowClass kind;
    kind.DockNodeFlagsOverrideSet = static_cast<int>(ImGuiDockNodeFlags_NoWindowMenuButton) |
                                    static_cast<int>(ImGuiDockNodeFlags_NoCloseButton);
    ImGui::SetNextWindowClass(&kind);
    ui.recorder.set_pane(pane.room->info.name);
    const ImGuiWindowFlags flags =
        ImGuiWindowFlags_NoCollapse | ImGuiWindowFlags_NoFocusOnAppearing |
        (on_rail
             ? ImGuiWindowFlags_NoDocking | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoTitleBar
             : 0);
    const bool is_visible = ImGui::Begin(name.c_str(), nullptr, flags);
    const ImGuiWindow* window = ImGui::GetCurrentWindowRead();
    if (window->DockIsActive && !window->DockNode->IsNoTabBar()) {
        const ImRect tab = window->DC.DockTabItemRect;
        ui.recorder.area({.kind = "tab",
                          .label = ui.recorder.claim("Tab"),
                          .min = tab.Min,
                          .max = tab.Max,
                          .value = window->DockTabIsVisible ? "shown" : "hidden",
                          .why_not = {}});
    }
    bool lost = false;
    if (is_visible) {
        const Guarded guarded = draw_guarded([&] { draw_inside(pane); });
        lost = guarded.window_lost;
        if (guarded.problem) {
            pane.problem = *guarded.problem;
            ui.say("error", "the pane " + pane.room->info.name + " stopped: " + pane.problem);
            ui.want_frames(3);
        }
    }
    if (!lost) ImGui::End();
}

void Frame::Parts::draw_inside(Pane& pane) {
    if (pane.problem.empty()) {
        pane.panel->draw(ui);
        return;
    }
    banner(ui, {.kind = ToastKind::error,
                .title = pane.room->info.name + " stopped",
                .sentence = pane.problem + ". The other panes and the training go on.",
                .actions = {}});
    if (button(ui, {.name = "Try again", .icon = icon::refresh})) pane.problem.clear();
}

void Frame::Parts::draw_rail(const FrameAreas& areas) {
    const float height = areas.dock_max.y - areas.dock_min.y;
    const BarScope bar("Rail", {.at = {0, areas.top},
                                .size = {areas.rail, height},
                                .ground = ui.theme.bar,
                                .padding = {ui.px(7), ui.px(7)}});
    ui.recorder.set_pane("Rail");
    for (const Pane& pane : panes) {
        const Place* place = place_in(*pane.room, ui.workspace);
        if (place == nullptr || place->slot != Slot::left) continue;
        const std::string& name = pane.room->info.name;
        if (!button(ui, {.name = name,
                         .icon = pane.room->icon,
                         .kind = ButtonKind::icon,
                         .tip = pane.room->info.sentence,
                         .selected = tools.rail_open == name}))
            continue;
        tools.rail_open = tools.rail_open == name ? std::string() : name;
    }
}

void Frame::Parts::draw_overlays(ImVec2 display) {
    std::string help;
    for (const Pane& pane : panes) {
        const Place* place = place_in(*pane.room, ui.workspace);
        if (place != nullptr && (place->slot == Slot::canvas || place->slot == Slot::page))
            help += pane.room->info.name + ": " + pane.room->help + "\n";
    }
    ui.recorder.set_pane("Palette");
    tools.palette.draw(ui, display);
    ui.recorder.set_pane("Open");
    tools.browser.draw(ui, display);
    ui.recorder.set_pane("Keys");
    tools.shortcuts.draw(ui, display, help);
}

std::vector<Action> all_actions() {
    Actions actions;
    FrameTools tools;
    add_frame_actions(actions, tools);
    add_run_actions(actions);
    add_selection_actions(actions, tools);
    for (const PanelRoom& room : panels()) room.make()->actions(actions);
    std::vector<Action> list = actions.all();
    for (Action& action : list)
        action.run = {}, action.why_not = {};  // nothing behind them lives on
    return list;
}

}  // namespace aft::app
